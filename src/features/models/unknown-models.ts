import type { ModelConfig, ModelApi, Provider } from "../../../streams/agent-config.ts";
import { didYouMean } from "../../foundation/contracts/did-you-mean.ts";
import { modelDefaults } from "../../foundation/contracts/model-defaults.ts";
import { modelApis } from "../../../streams/agent-config.ts";
import type { Price } from "../../foundation/contracts/price.ts";

/** A model whose limits and price are not known. */
export interface UnknownModel {
  /** Its name in the project. */
  readonly name: string;
  /** The assumption about it, a sentence without full stop. */
  readonly what: string;
  /** The keys that replace the assumption, for a person. */
  readonly fix: string;
  /** `key=value` that confirms the assumption, as `al config --set` takes it. */
  readonly setting: string;
}

type Asked = Pick<
  ModelConfig,
  "name" | "provider" | "model" | "api" | "contextWindow" | "maxTokens"
>;

/** The unknown ones of these models. A model whose window the config sets is known by that. */
export async function unknownModels(models: Iterable<Asked>): Promise<readonly UnknownModel[]> {
  const found = await Promise.all([...models].map(unknownModel));
  return found.filter((one) => one !== null);
}

async function unknownModel(config: Asked): Promise<UnknownModel | null> {
  const { name, provider, model, contextWindow } = config;
  if (contextWindow !== null || !isListedProvider(provider)) return null;
  const known = await listedModels(provider);
  if (known.includes(model)) return null;
  const near = isVersion(model, known) ? "" : didYouMean(model, known);
  const window = modelDefaults(provider, model).contextWindow;
  const key = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
  const found = `model ${name}: ${JSON.stringify(model)} is not in the list of ${provider}'s models${near}`;
  return {
    name,
    what: `${found}${near === "" ? ";" : " Otherwise"} its runs assume ${assumptionOf(config)}`,
    fix: `set contextWindow under [models.${name}] in config.toml, and maxTokens or api where they differ`,
    setting: `models.${key}.contextWindow=${window}`,
  };
}

/** A name that differs from a known one in its numbers only is not a typing error. */
function isVersion(model: string, known: readonly string[]): boolean {
  const letters = (text: string) => text.replaceAll(/[^a-z]/gi, "").toLowerCase();
  return known.some((one) => letters(one) === letters(model));
}

function assumptionOf({ provider, model, api, maxTokens }: Asked): string {
  const defaults = modelDefaults(provider, model);
  const wire = api ?? defaults.api;
  const limit = maxTokens ?? (wire === "anthropic-messages" ? defaults.maxTokens : null);
  const window = `a context window of ${defaults.contextWindow.toLocaleString("en")} tokens`;
  const answers =
    limit === null
      ? "no limit of an answer"
      : `answers of up to ${limit.toLocaleString("en")} tokens`;
  return `${window}, ${answers} and the API ${wire}, and their cost is not known`;
}

export type ListedProvider = Exclude<Provider, "custom" | "scripted">;

/** The entry of a model in pi's table. */
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
async function listedModels(provider: ListedProvider): Promise<readonly string[]> {
  return Object.keys(await lists[provider]());
}

/** The prices of the provider's models in the table, by name. */
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
