import type { Api, Model } from "@earendil-works/pi-ai";
import { modelApis } from "../../../../streams/agent-config.ts";
import type { ModelApi } from "../../../../streams/agent-config.ts";
import { apiBaseUrl } from "../../../foundation/contracts/base-url.ts";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import { modelDefaults } from "../../../foundation/contracts/model-defaults.ts";
import type { ModelDefaults } from "../../../foundation/contracts/model-defaults.ts";
import { noAnswerLimit } from "./wires.ts";

export type PiShape = Model<Api> & { readonly api: ModelApi };

/**
 * The model as pi takes it: as pi's table lists it, else by the provider's defaults. What the config sets goes before
 * both. `provider` is the name that pi has for it.
 */
export function modelShape(
  jobModel: JobModel,
  provider: string,
  listed: Model<Api> | undefined,
): PiShape {
  const defaults = modelDefaults(jobModel.provider, jobModel.model);
  const listedApi = modelApis.find((one) => one === listed?.api);
  const api = jobModel.api ?? listedApi ?? defaults.api;
  const shape = listed?.api === api ? listed : assumedShape(jobModel, { ...defaults, api }, listed);
  return {
    ...shape,
    api,
    provider,
    baseUrl: apiBaseUrl(jobModel.baseUrl, { provider: jobModel.provider, api }),
    contextWindow: jobModel.contextWindow ?? shape.contextWindow,
    maxTokens: jobModel.maxTokens ?? shape.maxTokens,
    // A job of an earlier scheduler has neither.
    cost: jobModel.price ?? shape.cost,
    input: [...(jobModel.input ?? shape.input)],
  };
}

function assumedShape(
  { provider, model, thinkingLevel }: JobModel,
  defaults: ModelDefaults,
  listed: Model<Api> | undefined,
): Omit<Model<Api>, "provider" | "baseUrl"> {
  const { api, thinking } = defaults;
  const isSet = thinkingLevel !== null && thinkingLevel !== "off";
  return {
    // A listed model that is asked by another API than the listed one keeps its limits and its price.
    ...(listed === undefined ? assumedLimits(model, defaults) : limitsOf(listed)),
    id: model,
    api,
    reasoning: thinking === "level-if-set" ? isSet : thinking !== "none",
    ...(thinking === "level" ? { thinkingLevelMap: levels(provider) } : {}),
    ...compatibility(provider, defaults),
  };
}

type Limits = Pick<Model<Api>, "name" | "input" | "cost" | "contextWindow" | "maxTokens">;

function limitsOf({ name, input, cost, contextWindow, maxTokens }: Limits): Limits {
  return { name, input, cost, contextWindow, maxTokens };
}

function assumedLimits(
  name: string,
  { api, contextWindow, maxTokens, takesImages }: ModelDefaults,
): Limits {
  return {
    name,
    input: takesImages ? ["text", "image"] : ["text"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow,
    maxTokens: api === "anthropic-messages" ? maxTokens : noAnswerLimit,
  };
}

/** The levels that all current models of a provider take; pi turns others into the nearest of these. */
function levels(provider: JobModel["provider"]): NonNullable<Model<Api>["thinkingLevelMap"]> {
  const takesXhigh = ["anthropic", "openai", "openrouter"].includes(provider);
  return { off: null, minimal: null, ...(takesXhigh ? { xhigh: "xhigh" } : {}) };
}

/** What pi can't find out from the names of provider and host. */
function compatibility(
  provider: JobModel["provider"],
  { api, thinking }: ModelDefaults,
): Pick<Model<Api>, "compat"> {
  if (api === "anthropic-messages") {
    return provider === "custom"
      ? { compat: { supportsEagerToolInputStreaming: false } }
      : { compat: { forceAdaptiveThinking: thinking === "level" } };
  }
  if (api !== "openai-completions" || (provider !== "custom" && provider !== "scripted")) return {};
  return {
    compat: { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" },
  };
}
