import type {
  Api,
  Model,
  ModelAuth,
  ProviderStreams,
  SimpleStreamOptions,
} from "@earendil-works/pi-ai";
import type { ModelRuntime } from "@earendil-works/pi-coding-agent";
import { modelApis, type ThinkingLevel, type ModelApi } from "../../../../streams/agent-config.ts";
import type { JobModel } from "../../../foundation/contracts/job.ts";
import type { ModelEndpoint } from "../harness.ts";
import { oauthMark } from "../../../foundation/contracts/model-gateway.ts";
import { modelDefaults, apiBaseUrl } from "../../../foundation/contracts/model-defaults.ts";
import type { ModelDefaults } from "../../../foundation/contracts/model-defaults.ts";
import { createProvider } from "@earendil-works/pi-ai";
import { listedModel } from "../../../features/models/listed-models.ts";
import { anthropicMessagesApi } from "@earendil-works/pi-ai/api/anthropic-messages.lazy";
import { googleGenerativeAIApi } from "@earendil-works/pi-ai/api/google-generative-ai.lazy";
import { mistralConversationsApi } from "@earendil-works/pi-ai/api/mistral-conversations.lazy";
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { openAIResponsesApi } from "@earendil-works/pi-ai/api/openai-responses.lazy";

/** pi's own default. */
const defaultThinkingLevel: ThinkingLevel = "medium";

/**
 * Makes the job's models known to pi, at the addresses of the endpoint. Resolves to the usable ones in the job's order,
 * and to the problems of the others.
 */
export async function preparePiModels(
  models: readonly JobModel[],
  runtime: ModelRuntime,
  endpoint: ModelEndpoint,
) {
  const usable: PiModel[] = [];
  const problems: string[] = [];
  const pi = { endpoint, authenticate: piAuthenticator(runtime) };
  for (const [index, jobModel] of models.entries()) {
    const lacksUrl = jobModel.provider === "custom" && jobModel.baseUrl === null;
    const problem = jobModel.problem ?? (lacksUrl ? `provider "custom" needs a baseUrl` : null);
    if (problem === null) usable.push(await piModel(jobModel, index, pi));
    else problems.push(`model "${jobModel.name}": ${problem}`);
  }
  // pi changes to a model only once it has seen that its provider is authenticated.
  await runtime.refresh({ allowNetwork: false });
  return { usable, problems };
}

interface Pi {
  readonly endpoint: ModelEndpoint;
  readonly authenticate: ReturnType<typeof piAuthenticator>;
}

async function piModel(jobModel: JobModel, index: number, { endpoint, authenticate }: Pi) {
  const { name, thinkingLevel } = jobModel;
  const provider = piProvider(jobModel, index);
  const listed = await listedModel(jobModel.provider, jobModel.model);
  const shape = modelShape(jobModel, provider, listed);
  const model = { ...shape, baseUrl: endpoint.baseUrl(jobModel, shape.baseUrl) };
  const auth = modelAuth(jobModel, endpoint.key);
  authenticate(provider, auth);
  return {
    /** The model's name in the project's config. */
    name,
    model,
    /** False if the cost of a token is unknown. */
    priced: isPriced(jobModel) || listed !== undefined,
    thinkingLevel: thinkingLevel ?? defaultThinkingLevel,
    /** Makes its key the active one. Two models may share a provider and differ in the key. */
    activate: () => authenticate(provider, auth),
  };
}

/** A model of the job, ready to be used by pi. */
export type PiModel = Awaited<ReturnType<typeof piModel>>;

/** A model without a price in the config has one if pi lists it. The scripted one is free. */
function isPriced({ provider, price }: JobModel): boolean {
  return provider === "scripted" || (price ?? null) !== null;
}

/**
 * How a session's requests authenticate: by the endpoint's key, whose prefix makes pi call Anthropic as OAuth tokens
 * need it. Other servers with Anthropic's API need only the token.
 */
function modelAuth({ provider, authType }: JobModel, key: string): ModelAuth {
  const isSubscription = provider === "anthropic" && authType === "oauth_token";
  return { apiKey: isSubscription ? `${oauthMark}${key}` : key };
}

type PiShape = Model<Api> & { readonly api: ModelApi };

/**
 * The model in pi's form: the config's values, else pi's table, else the provider's defaults. `provider` is pi's name
 * for the provider.
 */
function modelShape(jobModel: JobModel, provider: string, listed: Model<Api> | undefined): PiShape {
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
    // A job that an earlier version wrote has neither a price nor inputs.
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
    // A listed model called by another API than the listed one keeps its limits and its price.
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

/** The levels that all current models of a provider accept; pi maps others to the nearest of these. */
function levels(provider: JobModel["provider"]): NonNullable<Model<Api>["thinkingLevelMap"]> {
  const takesXhigh = ["anthropic", "openai", "openrouter"].includes(provider);
  return { off: null, minimal: null, ...(takesXhigh ? { xhigh: "xhigh" } : {}) };
}

/** Compatibility settings that pi can't derive from the names of provider and host. */
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

/** pi's name for a model's provider: two custom servers are two providers. */
function piProvider({ provider }: JobModel, index: number): string {
  return provider === "custom" || provider === "scripted" ? `${provider}-${index + 1}` : provider;
}

/**
 * Returns a function that sets the authentication of later requests to a provider; models of one provider may differ in
 * it. Replaces pi's own providers, which guess from a key how it is sent, and each of which supports only the API of its
 * own models.
 */
function piAuthenticator(runtime: ModelRuntime): (provider: string, auth: ModelAuth) => void {
  const active = new Map<string, ModelAuth>();
  return (id, auth) => {
    const isNew = !active.has(id);
    active.set(id, auth);
    if (!isNew) return;
    const resolve = () => Promise.resolve({ auth: active.get(id) ?? auth });
    const apiKey = { name: "API key", resolve };
    // A session is given its models: the provider need not list them.
    runtime.registerNativeProvider(
      createProvider({ id, auth: { apiKey }, models: [], api: wires }),
    );
  };
}

/** For a model's `maxTokens`: only the provider's own limit applies. */
const noAnswerLimit = 0;

/** pi's clients, by the wire format of a model. */
const wires: Readonly<Record<ModelApi, ProviderStreams>> = {
  "anthropic-messages": anthropicMessagesApi(),
  "openai-responses": openAIResponsesApi(),
  "openai-completions": openAICompletionsApi(),
  "google-generative-ai": withoutZeroLimit(googleGenerativeAIApi()),
  "mistral-conversations": withoutZeroLimit(mistralConversationsApi()),
};

/** The client sends a limit of 0, which OpenAI's clients omit. */
function withoutZeroLimit(client: ProviderStreams): ProviderStreams {
  return {
    ...client,
    streamSimple: (model, context, options) =>
      client.streamSimple(model, context, { ...options, onPayload: dropZeroLimit(options) }),
  };
}

function dropZeroLimit(
  options?: SimpleStreamOptions,
): NonNullable<SimpleStreamOptions["onPayload"]> {
  return async (payload, model) => {
    const changed = (await options?.onPayload?.(payload, model)) ?? payload;
    return model.maxTokens === noAnswerLimit ? withoutZeros(changed) : changed;
  };
}

/** The limit is `config.maxOutputTokens` for Google, `maxTokens` for Mistral. */
function withoutZeros(payload: unknown): unknown {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return payload;
  const kept = Object.entries(payload)
    .filter(([key, value]) => !(limits.has(key) && value === noAnswerLimit))
    .map(([key, value]: [string, unknown]) => [
      key,
      key === "config" ? withoutZeros(value) : value,
    ]);
  return Object.fromEntries(kept) as object;
}

const limits = new Set(["maxOutputTokens", "maxTokens"]);
