import type { ModelConfig, Provider, Rates } from "../../../streams/agent-config.ts";
import type { Price } from "../../foundation/contracts/price.ts";
import { modelDefaults } from "../../foundation/contracts/model-defaults.ts";
import type { ModelTerms } from "../../foundation/contracts/spend.ts";
import { isListedProvider, listedModel, listedModels } from "./listed-models.ts";
import type { ListedModel, ListedProvider } from "./listed-models.ts";

type Asked = Pick<ModelConfig, "provider" | "model" | "authType" | "maxTokens">;

/** The price and the rate of a model by the config. */
export interface PriceConfig {
  /** USD per million tokens; null for the table's. */
  readonly price: Rates | null;
  readonly requestsPerMinute: number | null;
}

/**
 * The price of a self-hosted model without one: that of a usual model of the middle class, so that a
 * budget means something for an unknown one. A model that costs nothing says so with a price of zeros.
 */
export const unpricedCustom: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Ids under which OpenRouter chooses a model itself; the table's numbers for them aren't prices. */
const routers = new Set(["auto", "openrouter/fusion"]);

/** The price of calls to a model: by the config, by pi's table, else as unpriced. */
export async function modelTerms(asked: Asked, config: PriceConfig): Promise<ModelTerms> {
  const { provider, model, authType } = asked;
  const known = config.price ?? (await listedPrice(provider, model));
  // A server that asks for no key sends no bill.
  const isKeyless = provider === "custom" && authType === "none";
  const price = known ?? (isKeyless ? free : await dearest(provider));
  const billing = known === null ? "unpriced" : "priced";
  return {
    provider,
    price,
    billing: authType === "oauth_token" ? "subscription" : billing,
    maxOutputTokens: await mostOutput(asked),
    requestsPerMinute: config.requestsPerMinute,
  };
}

/** The price of a provider's model by pi's table; null for one that is unpriced. The scripted model costs nothing, nor does a
 * variant `:free` of OpenRouter. */
export async function listedPrice(provider: Provider, model: string): Promise<Price | null> {
  if (provider === "scripted") return free;
  if (!isListedProvider(provider)) return null;
  if (provider === "openrouter" && model.endsWith(":free")) return free;
  const listed = (await listedModels(provider))[model];
  return listed === undefined ? null : priceOf(provider, model, listed);
}

/** The highest rates of any model of the provider, for models without a price. */
export async function dearest(provider: Provider): Promise<Price> {
  if (provider === "scripted") return free;
  if (!isListedProvider(provider)) return unpricedCustom;
  const prices = Object.entries(await listedModels(provider)).flatMap(
    ([model, listed]) => priceOf(provider, model, listed) ?? [],
  );
  const rates = prices.flatMap((price): readonly Rates[] => [price, ...(price.tiers ?? [])]);
  const highest = (usdOf: (one: Rates) => number): number => Math.max(...rates.map(usdOf));
  return {
    input: highest(({ input }) => input),
    output: highest(({ output }) => output),
    cacheRead: highest(({ cacheRead }) => cacheRead),
    cacheWrite: highest(({ cacheWrite }) => cacheWrite),
  };
}

function priceOf(provider: ListedProvider, model: string, { cost }: ListedModel): Price | null {
  if (cost.input < 0 || cost.output < 0 || routers.has(model)) return null;
  const price = {
    ...withCacheRates(cost),
    tiers: (cost.tiers ?? []).map((tier) => ({ ...tier, ...withCacheRates(tier) })),
  };
  return withLongPrompts(provider, model, price);
}

/** The table has 0 where a provider has no special rate for the cache: its tokens cost as much as the others. */
function withCacheRates({ input, output, cacheRead, cacheWrite }: Rates): Rates {
  const orInput = (usd: number): number => (usd === 0 ? input : usd);
  return { input, output, cacheRead: orInput(cacheRead), cacheWrite: orInput(cacheWrite) };
}

async function mostOutput({ provider, model, maxTokens }: Asked): Promise<number> {
  if (maxTokens !== null) return maxTokens;
  const listed = await listedModel(provider, model);
  return listed?.maxTokens ?? modelDefaults(provider, model).maxTokens;
}

/** How much more a request costs whose input exceeds a number of tokens. */
interface LongPrompts {
  readonly inputTokensAbove: number;
  readonly input: number;
  readonly output: number;
}

const geminiPro: LongPrompts = { inputTokensAbove: 200_000, input: 2, output: 1.5 };
const grok: LongPrompts = { inputTokensAbove: 200_000, input: 2, output: 2 };

/**
 * Models whose long requests cost more, and whose row in pi's table (0.87.1) does not say so; it has the tiers of OpenAI
 * and xAI. Sources: the catalogue of models.dev of 2026-07-02 for each row, and for Gemini guides of March 2026 that quote
 * "Gemini Developer API pricing" of ai.google.dev: $2.50 and $15 in place of $1.25 and $10 for 2.5 Pro, $4 and $18 in
 * place of $2 and $12 for 3.1 Pro, cache reads doubled. No model of Anthropic is here: Sonnet 4.5 takes no more than
 * 200,000 tokens since 2026-04-30 ("Claude Sonnet 4.5" on platform.claude.com, which says 200K), and those with a window of
 * a million cost the same at any length.
 */
const longPrompts: ReadonlyMap<string, LongPrompts> = new Map([
  ["google/gemini-2.5-pro", geminiPro],
  ["google/gemini-3.1-pro-preview", geminiPro],
  ["google/gemini-3.1-pro-preview-customtools", geminiPro],
  ["openrouter/google/gemini-3.1-pro-preview", geminiPro],
  ["openrouter/google/gemini-3.1-pro-preview-customtools", geminiPro],
  ["openrouter/x-ai/grok-4.3", grok],
]);

/** The price with the tier that the table lacks; a tier of the table stays. */
function withLongPrompts(provider: string, model: string, price: Price): Price {
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
