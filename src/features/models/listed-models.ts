import { modelApis } from "../../../streams/agent-config.ts";
import type { ModelApi, Provider } from "../../../streams/agent-config.ts";
import type { Price } from "../../foundation/contracts/price.ts";

export type ListedProvider = Exclude<Provider, "custom" | "scripted">;

/** What pi's table has of a model. */
export interface ListedModel {
  /** Wire format. */
  readonly api: string;
  readonly cost: Price;
  /** The most that an answer may have, in tokens. */
  readonly maxTokens: number;
}

/** pi's table in parts: reading one takes a few ms, all of pi about half a second. */
const lists: Readonly<
  Record<ListedProvider, () => Promise<Readonly<Record<string, ListedModel>>>>
> = {
  anthropic: async () =>
    (await import("@earendil-works/pi-ai/providers/anthropic.models")).ANTHROPIC_MODELS,
  openai: async () => (await import("@earendil-works/pi-ai/providers/openai.models")).OPENAI_MODELS,
  google: async () => (await import("@earendil-works/pi-ai/providers/google.models")).GOOGLE_MODELS,
  groq: async () => (await import("@earendil-works/pi-ai/providers/groq.models")).GROQ_MODELS,
  xai: async () => (await import("@earendil-works/pi-ai/providers/xai.models")).XAI_MODELS,
  mistral: async () =>
    (await import("@earendil-works/pi-ai/providers/mistral.models")).MISTRAL_MODELS,
  openrouter: async () =>
    (await import("@earendil-works/pi-ai/providers/openrouter.models")).OPENROUTER_MODELS,
};

/** Whether there is a list of the provider's models at all. */
export function isListedProvider(provider: Provider): provider is ListedProvider {
  return Object.hasOwn(lists, provider);
}

/** The names of the provider's models whose limits and prices are known. */
export async function listedModels(provider: ListedProvider): Promise<readonly string[]> {
  return Object.keys(await lists[provider]());
}

/** What the provider's models cost by the table, by their names. */
export async function listedCosts(
  provider: ListedProvider,
): Promise<ReadonlyMap<string, ListedModel>> {
  return new Map(Object.entries(await lists[provider]()));
}

/** The wire format of a model of the list; null for one that is not in it. */
export async function listedApi(provider: Provider, model: string): Promise<ModelApi | null> {
  if (!isListedProvider(provider)) return null;
  const { api } = (await lists[provider]())[model] ?? {};
  return modelApis.find((one) => one === api) ?? null;
}
