import { withoutEndSlashes } from "./plain-text.ts";
import { harnesses } from "../../../streams/harnesses.ts";
import type {
  AgentConfig,
  ModelConfig,
  ModelApi,
  Provider,
} from "../../../streams/agent-config.ts";

/** Assumptions about a model that is not in the list of known ones. */
export interface ModelDefaults {
  readonly api: ModelApi;
  /** Tokens of a request and its answer together. */
  readonly contextWindow: number;
  /** Tokens of an answer, for the only API that requires a limit with each request (anthropic-messages). */
  readonly maxTokens: number;
  readonly takesImages: boolean;
  /**
   * How the model is asked to think: not at all, by a budget of tokens (Anthropic's older models), by a level, or by a
   * level only if the config sets one, because the provider's other models reject it.
   */
  readonly thinking: "none" | "budget" | "level" | "level-if-set";
}

interface Row extends ModelDefaults {
  /** Names of the older models that the row is for; null for all others. */
  readonly names: RegExp | null;
}

const anthropic = { api: "anthropic-messages", contextWindow: 200_000, takesImages: true } as const;
const openai = { api: "openai-responses", maxTokens: 32_000, takesImages: true } as const;
const google = { api: "google-generative-ai", maxTokens: 32_000, takesImages: true } as const;
const xai = { api: "openai-responses", maxTokens: 32_000 } as const;
const textOnly = {
  contextWindow: 131_072,
  maxTokens: 32_000,
  takesImages: false,
  names: null,
} as const;

/** The first matching row applies. Windows are the smallest of the provider's current models. */
const defaults: Readonly<Record<Exclude<Provider, "scripted">, readonly Row[]>> = {
  anthropic: [
    { ...anthropic, names: /^claude-(2|3-(haiku|opus|sonnet))/, maxTokens: 4096, thinking: "none" },
    { ...anthropic, names: /^claude-3-5-/, maxTokens: 8192, thinking: "none" },
    { ...anthropic, names: /^claude-3-7-/, maxTokens: 64_000, thinking: "budget" },
    {
      ...anthropic,
      names: /^claude-opus-4(-[01])?(-\d{8})?$/,
      maxTokens: 32_000,
      thinking: "budget",
    },
    {
      ...anthropic,
      names: /^claude-[a-z]+-4(-[0-5])?(-\d{8})?$/,
      maxTokens: 64_000,
      thinking: "budget",
    },
    { ...anthropic, names: null, maxTokens: 64_000, thinking: "level" },
  ],
  openai: [
    { ...openai, names: /^(gpt-[34]|chatgpt-)|-chat\b/, contextWindow: 128_000, thinking: "none" },
    { ...openai, names: null, contextWindow: 272_000, thinking: "level" },
  ],
  google: [
    { ...google, names: /^(gemini-(1|2\.0)|gemma)/, contextWindow: 131_072, thinking: "none" },
    { ...google, names: null, contextWindow: 1_048_576, thinking: "level" },
  ],
  groq: [{ ...textOnly, api: "openai-completions", thinking: "level-if-set" }],
  xai: [
    {
      ...xai,
      names: /^grok-(2|3|4(-|$)|code)/,
      contextWindow: 131_072,
      takesImages: false,
      thinking: "none",
    },
    { ...xai, names: null, contextWindow: 500_000, takesImages: true, thinking: "level" },
  ],
  mistral: [{ ...textOnly, api: "mistral-conversations", thinking: "level-if-set" }],
  openrouter: [{ ...textOnly, api: "openai-completions", thinking: "level" }],
  custom: [{ ...textOnly, api: "openai-completions", thinking: "level-if-set" }],
};

/** The assumptions about a model with this name. */
export function modelDefaults(provider: Provider, name: string): ModelDefaults {
  const rows = defaults[provider === "scripted" ? "custom" : provider];
  const row = rows.find(({ names }) => names === null || names.test(name));
  if (row === undefined) throw new Error(`there are no defaults for models of ${provider}`);
  return row;
}

/** The wire format in which programs of any kind ask the model, unless its config names one. */
export function plainApi({ provider, model, api }: ApiFields): ModelApi {
  const usual = modelDefaults(provider, model).api;
  return api ?? (usual === "openai-responses" ? "openai-completions" : usual);
}
type ApiFields = Pick<ModelConfig, "provider" | "model" | "api">;

/** The models that runs may use; an external CLI uses only the primary, even if that is left out elsewhere. */
export function modelsOfRuns({ models, harness }: AgentConfig): readonly ModelConfig[] {
  return harnesses[harness.type].callsModels ? models : models.slice(0, 1);
}

/** Base URLs of the providers' APIs, without a version. */
const providerUrls: Readonly<Record<Exclude<Provider, "custom" | "scripted">, string>> = {
  anthropic: "https://api.anthropic.com",
  openai: "https://api.openai.com",
  google: "https://generativelanguage.googleapis.com",
  groq: "https://api.groq.com/openai",
  xai: "https://api.x.ai",
  mistral: "https://api.mistral.ai",
  openrouter: "https://openrouter.ai/api",
};

/** The version that a base URL of the API ends with; null for an API whose clients add it themselves. */
const versions: Readonly<Record<ModelApi, string | null>> = {
  "anthropic-messages": null,
  "mistral-conversations": null,
  "openai-responses": "/v1",
  "openai-completions": "/v1",
  "google-generative-ai": "/v1beta",
};

const version = /\/v\d[a-z\d]*$/;
/** A path that clients add to a base URL: an address that ends with it was copied from a request. */
const endpoint = /\/(chat\/completions|responses|messages|models\/[^/]+)$/;

/**
 * The base URL as the clients of an API want it, from one with or without `/v1` or `/v1beta`, a slash at its end or
 * the path of an endpoint. Without one the provider's own; empty
 * for a scripted model, which has none.
 */
export function apiBaseUrl(
  given: string | null,
  { provider, api }: { readonly provider: Provider; readonly api: ModelApi },
): string {
  const own = provider in providerUrls ? providerUrls[provider as keyof typeof providerUrls] : "";
  const base = given ?? own;
  if (base === "") return "";
  const suffix = versions[api];
  if (suffix === null) return unversionedUrl(base);
  const path = pathOf(base);
  if (endpoint.test(path)) return withPath(base, path.replace(endpoint, ""));
  if (version.test(path)) return withPath(base, path);
  // With a path of its own, a server may have any form; Google's clients always add the version.
  const isUsual = path === "" || path === pathOf(own) || api === "google-generative-ai";
  return withPath(base, isUsual ? path + suffix : path);
}

/** The base URL without a version, for clients that add the version themselves. */
export function unversionedUrl(given: string): string {
  return withPath(given, pathOf(given).replace(endpoint, "").replace(version, ""));
}

function pathOf(url: string): string {
  return url === "" ? "" : withoutEndSlashes(new URL(url).pathname);
}

function withPath(url: string, path: string): string {
  const { origin, username, password, search } = new URL(url);
  const user = username === "" ? "" : `${username}${password === "" ? "" : `:${password}`}@`;
  return `${origin.replace("://", `://${user}`)}${path}${search}`;
}
