import type { Rates } from "../../streams/agent-config.ts";
import type { Price } from "../../streams/spend/price.ts";

/** How much more a request costs whose input exceeds a number of tokens. */
interface LongPrompts {
  readonly inputTokensAbove: number;
  readonly input: number;
  readonly output: number;
}

const doubleAbove200k: LongPrompts = { inputTokensAbove: 200_000, input: 2, output: 1.5 };

/**
 * Models whose long requests cost more, and whose row in pi's table does not say so. Sources: "Gemini Developer API
 * pricing" on ai.google.dev, "Long context pricing" on platform.claude.com.
 */
const longPrompts: ReadonlyMap<string, LongPrompts> = new Map([
  ["google/gemini-2.5-pro", doubleAbove200k],
  ["google/gemini-3.1-pro-preview", doubleAbove200k],
  ["google/gemini-3.1-pro-preview-customtools", doubleAbove200k],
  ["anthropic/claude-sonnet-4-5", doubleAbove200k],
  ["anthropic/claude-sonnet-4-5-20250929", doubleAbove200k],
]);

/** The price with the tier that the table lacks. One that it has stays. */
export function withLongPrompts(provider: string, model: string, price: Price): Price {
  const long = longPrompts.get(`${provider}/${model}`);
  if (long === undefined || (price.tiers ?? []).length > 0) return price;
  const tier: Rates = {
    input: price.input * long.input,
    output: price.output * long.output,
    cacheRead: price.cacheRead * long.input,
    cacheWrite: price.cacheWrite * long.input,
  };
  return { ...price, tiers: [{ ...tier, inputTokensAbove: long.inputTokensAbove }] };
}
