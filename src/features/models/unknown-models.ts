import type { ModelConfig } from "../../../streams/agent-config.ts";
import { didYouMean } from "../../foundation/contracts/did-you-mean.ts";
import { modelDefaults } from "../../foundation/contracts/model-defaults.ts";
import { isListedProvider, listedModels } from "./listed-models.ts";

/** A model whose limits and price are not known. */
export interface UnknownModel {
  /** The model's name in the project. */
  readonly name: string;
  /** The assumption about it, a sentence without full stop. */
  readonly problem: string;
  /** The keys that replace the assumption, for a person. */
  readonly fix: string;
  /** `key=value` that confirms the assumption, as `al config --set` takes it. */
  readonly setting: string;
}

type Asked = Pick<
  ModelConfig,
  "name" | "provider" | "model" | "api" | "contextWindow" | "maxTokens"
>;

/** The unknown models among these. A model whose window is configured counts as known. */
export async function unknownModels(models: Iterable<Asked>): Promise<readonly UnknownModel[]> {
  const found = await Promise.all([...models].map(unknownModel));
  return found.filter((one) => one !== null);
}

async function unknownModel(config: Asked): Promise<UnknownModel | null> {
  const { name, provider, model, contextWindow } = config;
  if (contextWindow !== null || !isListedProvider(provider)) return null;
  const known = Object.keys(await listedModels(provider));
  if (known.includes(model)) return null;
  const near = isVersion(model, known) ? "" : didYouMean(model, known);
  const window = modelDefaults(provider, model).contextWindow;
  const key = /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
  const found = `model ${name}: ${JSON.stringify(model)} is not in the list of ${provider}'s models${near}`;
  return {
    name,
    problem: `${found}${near === "" ? ";" : " Otherwise"} its runs assume ${assumptionOf(config)}`,
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
