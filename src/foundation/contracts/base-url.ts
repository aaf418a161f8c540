import type { ModelApi, Provider } from "../../../streams/agent-config.ts";

/** Where the APIs of the providers are, without a version. */
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

const version = /\/v\d+[a-z\d]*$/;
/** What the clients add to a base URL: an address that ends with it was copied from a request. */
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

/** The base URL without a version, as clients want it that add the version themselves. */
export function unversionedUrl(given: string): string {
  return withPath(given, pathOf(given).replace(endpoint, "").replace(version, ""));
}

function pathOf(url: string): string {
  return url === "" ? "" : new URL(url).pathname.replace(/\/+$/, "");
}

function withPath(url: string, path: string): string {
  const { origin, username, password, search } = new URL(url);
  const user = username === "" ? "" : `${username}${password === "" ? "" : `:${password}`}@`;
  return `${origin.replace("://", `://${user}`)}${path}${search}`;
}
