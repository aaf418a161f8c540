import { listedModel, listedModels } from "../../../src/features/models/listed-models.ts";
import {
  dearest,
  listedPrice,
  modelTerms,
  unpricedCustom,
} from "../../../src/features/models/prices.ts";
import { providers } from "../../../streams/agent-config.ts";

type Asked = Parameters<typeof modelTerms>[0];
const asked: Asked = {
  provider: "anthropic",
  model: "claude-opus-4-5",
  authType: "api_key",
  maxTokens: null,
};
const noConfig = { price: null, requestsPerMinute: null };

test("a model named like a property of every JavaScript object is unknown", async () =>
  expect(await listedModel("openai", "constructor")).toBeUndefined());

test.each([
  ["anthropic", "claude-opus-4-5", { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }],
  ["openai", "gpt-4.1", { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 2 }],
  ["mistral", "codestral-latest", { input: 0.3, output: 0.9, cacheRead: 0.03, cacheWrite: 0.3 }],
  ["scripted", "any", { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }],
] as const)(
  "the model of %s called %s has a price, also for cached input",
  async (provider, model, price) => expect(await listedPrice(provider, model)).toMatchObject(price),
);

describe("in the list of prices", () => {
  test.each([
    ["google", "gemini-2.5-pro", { input: 2.5, output: 15, cacheRead: 0.25, cacheWrite: 2.5 }],
    ["google", "gemini-3.1-pro-preview", { input: 4, output: 18, cacheRead: 0.4, cacheWrite: 4 }],
    // The table's own tiers.
    ["xai", "grok-4.5", { input: 4, output: 12, cacheRead: 0.6, cacheWrite: 4 }],
    ["openrouter", "x-ai/grok-4.3", { input: 2.5, output: 5, cacheRead: 0.4, cacheWrite: 2.5 }],
  ] as const)("long requests to %s's %s cost more", async (provider, model, rates) => {
    const price = await listedPrice(provider, model);
    expect(price?.tiers).toEqual([{ inputTokensAbove: 200_000, ...rates }]);
  });

  test.each([
    "auto",
    "openrouter/auto",
    "openrouter/auto-code",
    "openrouter/fusion",
    "typesafe/jev-router",
  ])("the router %s, which chooses another model, has no price", async (router) => {
    expect(await listedModels("openrouter")).toHaveProperty([router]);
    expect(await listedPrice("openrouter", router)).toBeNull();
  });

  test.each(["openrouter/free", "acme/unlisted:free"])(
    "the free model %s has the price zero",
    async (model) =>
      expect(await listedPrice("openrouter", model)).toMatchObject({ input: 0, output: 0 }),
  );

  test("each rate is zero or more", async () => {
    for (const provider of providers)
      for (const usd of Object.values(await dearest(provider)))
        expect(usd, provider).toBeGreaterThanOrEqual(0);
  });
});

const price = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };
const free = { input: 0, output: 0 };
test.each<[string, Partial<Asked>, object]>([
  [
    "come from the table",
    {},
    {
      provider: "anthropic",
      price: { input: 5 },
      billing: "priced",
      maxOutputTokens: 64_000,
      requestsPerMinute: null,
    },
  ],
  [
    "are the provider's most expensive ones if the table lacks it",
    { model: "claude-x-9" },
    {
      billing: "unpriced",
      maxOutputTokens: 64_000,
      price: { input: 10, output: 50, cacheWrite: 12.5 },
    },
  ],
  [
    "are usual prices on an own server without a price",
    { provider: "custom" },
    { price: unpricedCustom, billing: "unpriced", maxOutputTokens: 32_000 },
  ],
  [
    "are free, and unpriced, on an own server without a key",
    { provider: "custom", authType: "none" },
    { price: free, billing: "unpriced" },
  ],
  ["are not billed in a subscription", { authType: "oauth_token" }, { billing: "subscription" }],
])("the billing terms of a model %s", async (_, model, terms) => {
  expect(await modelTerms({ ...asked, ...model }, noConfig)).toMatchObject(terms);
});

test("a model's configured prices override those of the built-in list", async () => {
  const config = { price, requestsPerMinute: 60 };
  expect(await modelTerms({ ...asked, provider: "custom", maxTokens: 9 }, config)).toEqual({
    provider: "custom",
    billing: "priced",
    maxOutputTokens: 9,
    ...config,
  });
});
