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

/** Ids under which OpenRouter chooses a model itself: the table's zeros for them aren't prices. */
const isRouter = (provider: ListedProvider, model: string, { input, output }: Rates): boolean =>
  provider === "openrouter" && input + output === 0 && model !== "openrouter/free";

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
  if (cost.input < 0 || cost.output < 0 || isRouter(provider, model, cost)) return null;
  return {
    ...withCacheRates(cost),
    tiers: (cost.tiers ?? []).map((tier) => ({ ...tier, ...withCacheRates(tier) })),
  };
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
