import { z } from "zod";
import type { ModelConfig } from "../../../streams/agent-config.ts";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { agentKey, factOf, type AgentContext, type ModelKey } from "./config-key.ts";
import { describeValues, isEqual, formatNames, formatValue } from "./format-value.ts";
import { list, text } from "./fields.ts";
import { canonicalKeys, valueSchema } from "./key-table.ts";
import { modelKeys } from "./model-keys.ts";

const modelNames = 'a list with at least one name of the project\'s [models.<name>], e.g. ["main"]';

export const modelsKey = agentKey({
  inFile: "models",
  field: list(text(), modelNames)
    .min(1, { error: modelNames })
    .describe(
      "Models in order of preference. The next one is used when a model is rate-limited or down.",
    ),
  resolve: namedModels,
  written: (models) => models.map(({ name }) => name),
  value: z.array(valueSchema<ModelConfig>(modelKeys)).readonly(),
  canonical: (models, context) => models.map((model) => canonicalKeys(modelKeys, model, context)),
  change: (before, after) => {
    const [old, now] = [before, after].map((models) => models.map(({ name }) => name));
    if (!isEqual(old, now)) return describeValues("models", old, now);
    const differing = after.filter((model, index) => !isEqual(model, before[index]));
    return `settings of model ${formatNames(differing.map(({ name }) => name))} changed`;
  },
  facts: (models) => factOf("Models", models.map(modelText)),
});

/** The project's models by their names; reports names that the project does not have. */
function namedModels(
  names: readonly string[],
  { project: { models }, diagnostics }: AgentContext,
): readonly ModelConfig[] {
  return names.flatMap((name, index) => {
    const model = Object.hasOwn(models, name) ? models[name] : undefined;
    if (model !== undefined) return [model];
    const known = Object.keys(models);
    const advice =
      known.length === 0
        ? `the project's config.toml has none; add [models.${name}] there`
        : `expected one of ${formatNames(known)}${didYouMean(name, known)}`;
    diagnostics.error(["models", index], `model ${formatValue(name)} is not defined; ${advice}`);
    return [];
  });
}

/** `main (anthropic claude-sonnet-4-5, thinking high, fallback)`. */
function modelText(config: ModelConfig, index: number): string {
  const { name, provider, model } = config;
  const texts = [
    provider === "scripted" ? "scripted" : `${provider} ${model}`,
    ...settingTexts(config),
    ...(index === 0 ? [] : ["fallback"]),
  ];
  return texts.length === 1 && texts[0] === name ? name : `${name} (${texts.join(", ")})`;
}

function settingTexts(config: ModelConfig): readonly string[] {
  return (Object.keys(modelKeys) as (keyof ModelConfig)[])
    .map((name) => {
      const key: ModelKey<unknown> = modelKeys[name];
      return key.fact?.(config[name]) ?? null;
    })
    .filter((text) => text !== null);
}
