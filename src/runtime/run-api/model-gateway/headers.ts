import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import type { WireApi } from "./wire-api.ts";

/** Headers that clients may send to a provider, without authentication and cookies. */
const sent = new Set([
  "accept",
  // A beta makes fields valid; a request has only those of its table.
  "anthropic-beta",
  "anthropic-dangerous-direct-browser-access",
  "anthropic-version",
  "http-referer",
  "idempotency-key",
  "openai-beta",
  "openai-organization",
  "openai-project",
  "session_id",
  "user-agent",
  // Mistral's cache is found by it.
  "x-affinity",
  "x-app",
  "x-client-request-id",
  "x-goog-api-client",
  "x-session-affinity",
  "x-session-id",
  "x-title",
]);
const sentPrefix = "x-stainless-";

/** Whether clients may set it; its name is in lower case. */
export function isClientHeader(name: string): boolean {
  return sent.has(name) || name.startsWith(sentPrefix);
}

/**
 * What providers may tell a client, beside the rate limits, whose names all contain the word. Without its length an
 * answer is sent in chunks, so that a trailer can follow.
 */
const returned = new Set([
  "content-type",
  "request-id",
  "x-request-id",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
]);

/** Headers that the config may not set: a connection's own. */
const neverSet = new Set(["connection", "content-length", "transfer-encoding"]);

/** The headers of the request to the provider. Those of the config replace the client's and the key's. */
export function requestHeaders(
  client: IncomingHttpHeaders,
  model: UpstreamModel,
  { keyHeader }: Pick<WireApi, "keyHeader">,
  bodyBytes: number,
): OutgoingHttpHeaders {
  const kept = Object.entries(client).filter(([name]) => isClientHeader(name));
  const headers: OutgoingHttpHeaders = Object.fromEntries(kept);
  if (model.key !== null && model.authType !== "none") {
    const [name, value] = keyHeader(model.key, model.authType);
    headers[name] = value;
  }
  for (const [given, value] of Object.entries(model.headers)) {
    const name = given.toLowerCase();
    if (!neverSet.has(name)) headers[name] = name === betas ? joined(headers[name], value) : value;
  }
  headers["content-type"] = "application/json";
  headers["content-length"] = bodyBytes;
  // The usage is read from the answer as it passes.
  headers["accept-encoding"] = "identity";
  return headers;
}

/** A list: the client's features are needed for what is in its request. */
const betas = "anthropic-beta";

function joined(client: OutgoingHttpHeaders[string], configured: string): string {
  const features = `${String(client ?? "")},${configured}`.split(",").map((one) => one.trim());
  return [...new Set(features.filter((one) => one !== ""))].join(",");
}

/** The headers of the answer to the client. */
export function responseHeaders(provider: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(provider).filter(([name]) => returned.has(name) || name.includes("ratelimit")),
  );
}
