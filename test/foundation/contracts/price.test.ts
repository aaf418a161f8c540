import fc from "fast-check";
import { nanoOfUsd, usdText } from "../../../src/foundation/contracts/money.ts";
import {
  costAt,
  costOf,
  serviceTierFactor,
  tokensFor,
  worstRates,
} from "../../../src/foundation/contracts/price.ts";
import type { CallUsage, Price } from "../../../src/foundation/contracts/price.ts";

const none: CallUsage = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0 };
const sonnet: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const tiered: Price = {
  input: 2.5,
  output: 15,
  cacheRead: 0.25,
  cacheWrite: 0,
  tiers: [
    { inputTokensAbove: 500_000, input: 9, output: 30, cacheRead: 0.9, cacheWrite: 0 },
    { inputTokensAbove: 272_000, input: 5, output: 22.5, cacheRead: 0.5, cacheWrite: 0 },
  ],
};

test.each<[string, Price, Partial<CallUsage>, number]>([
  [
    "a write to the cache for both times",
    sonnet,
    { cacheWrite: 10, cacheWrite1h: 4 },
    22_500 + 24_000,
  ],
  [
    "a call with all kinds of tokens",
    sonnet,
    { input: 12, cacheRead: 2_000, cacheWrite: 300, cacheWrite1h: 100, output: 450 },
    36_000 + 600_000 + 750_000 + 600_000 + 6_750_000,
  ],
  ["input at a tier's threshold", tiered, { input: 272_000, output: 1 }, 680_000_000 + 15_000],
  ["input over a tier's threshold", tiered, { input: 272_001, output: 1 }, 1_360_005_000 + 22_500],
  [
    "cached input over a tier's threshold",
    tiered,
    { input: 1, cacheRead: 272_000 },
    5_000 + 136_000_000,
  ],
  ["input in the highest tier", tiered, { input: 500_001 }, 4_500_009_000],
  [
    "a price with fractions of a nano-dollar",
    { input: 0.895578, output: 1.791156, cacheRead: 0.074632, cacheWrite: 0 },
    { input: 1_000_000, output: 500, cacheRead: 3 },
    895_578_000 + 895_578 + 224,
  ],
])("for model prices, %s costs the amount calculated by hand", (_, price, usage, nano) => {
  expect(costOf(price, { ...none, ...usage })).toBe(nano);
});

test("costOf has no rounding drift for prices such as $0.10", () => {
  const price = { input: 0.1, output: 0.2, cacheRead: 0.7, cacheWrite: 0.3 };
  const usage = { input: 3, output: 3, cacheRead: 3, cacheWrite: 3, cacheWrite1h: 0 };
  expect(costOf(price, usage)).toBe(3_900);
  expect(costOf(price, { ...usage, input: 900_000_000_000_003 })).toBe(90_000_000_000_003_900);
});

test.each([
  ["openai", "gpt-5.4", "flex", 0.5],
  ["openai", "gpt-5.4", "priority", 2],
  ["openai", "gpt-5.5", "priority", 2.5],
  ["openai", "gpt-5.5", null, 1],
  ["anthropic", "claude-opus-5", "priority", 1],
])(
  "serviceTierFactor of the model %s/%s with the tier %s is %d",
  (provider, model, tier, factor) => {
    expect(serviceTierFactor(provider, model, tier)).toBe(factor);
  },
);

test("no model call costs more than its tokens at the highest rates", () => {
  const tokens = fc.integer({ min: 0, max: 2_000_000 });
  const usd = fc.integer({ min: 0, max: 90_000_000 }).map((n) => n / 1_000_000);
  const rates = { input: usd, output: usd, cacheRead: usd, cacheWrite: usd };
  const tier = fc.record({ ...rates, inputTokensAbove: tokens });
  const price = fc.record({ ...rates, tiers: fc.array(tier, { maxLength: 3 }) });
  const usage = fc.record({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens });
  const long = fc.integer({ min: 0, max: 100 });
  fc.assert(
    fc.property(
      price,
      usage,
      long,
      fc.constantFrom(0.5, 1, 2, 2.5),
      (price, used, percent, factor) => {
        const cacheWrite1h = Math.floor((used.cacheWrite * percent) / 100);
        const worst = worstRates(price, factor, cacheWrite1h > 0);
        const input = used.input + used.cacheRead + used.cacheWrite;
        const most = costAt(worst.input, input) + costAt(worst.output, used.output);
        expect(costOf(price, { ...used, cacheWrite1h }, factor)).toBeLessThanOrEqual(most);
      },
    ),
    { numRuns: 2_000 },
  );
});

test("tokensFor returns the exact number of tokens that an amount pays", () => {
  const rate = worstRates({ ...sonnet, output: 0.895578 }, 1, false).output;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e15 }), (nano) => {
      const tokens = tokensFor(rate, nano);
      expect(costAt(rate, tokens)).toBeLessThanOrEqual(nano);
      expect(costAt(rate, tokens + 1)).toBeGreaterThan(nano);
    }),
  );
  expect(tokensFor(0n, 5)).toBe(Infinity);
  expect(tokensFor(rate, -1)).toBe(0);
});

test.each([
  [0, "$0.00"],
  [1_234_567.8, "$1,234,567.80"],
  [0.000000001, "$0.000000001"],
])("usdText of %d dollars is %s", (usd, text) => {
  expect(usdText(nanoOfUsd(usd))).toBe(text);
});
