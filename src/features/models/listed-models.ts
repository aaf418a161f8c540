import type { Api, Model } from "@earendil-works/pi-ai";
import { modelApis, type ModelApi, type Provider } from "../../../streams/agent-config.ts";

export type ListedProvider = Exclude<Provider, "custom" | "scripted">;

/** The entry of a model in pi's table. */
export type ListedModel = Model<Api>;

/** pi's table in parts: reading one takes a few ms. */
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

/** The provider's models whose limits and prices are known, by name; loads the part of that provider alone. */
export function listedModels(
  provider: ListedProvider,
): Promise<Readonly<Record<string, ListedModel>>> {
  return lists[provider]();
}

/** The wire format of a model of the list; null for one that is not in it. */
export async function listedApi(provider: Provider, model: string): Promise<ModelApi | null> {
  const api = (await listedModel(provider, model))?.api;
  return modelApis.find((one) => one === api) ?? null;
}

/** The entry of a model; undefined for one that is not in the list. */
export async function listedModel(
  provider: Provider,
  model: string,
): Promise<ListedModel | undefined> {
  if (!isListedProvider(provider)) return undefined;
  const models = await lists[provider]();
  return Object.hasOwn(models, model) ? models[model] : undefined;
}
