import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import type { WireApi } from "./wire-api.ts";
import { encodedForms } from "../../../foundation/credentials/encoded-forms.ts";
import { distinctMasks, maskedBytes, maskedHeader, maskOf, type Mask } from "../masked-bytes.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** Headers that clients may send to a provider, without authentication and cookies. */
const sent = new Set([
  "accept",
  // A beta makes fields valid; the gateway still rejects fields that its request table doesn't list.
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
  // Mistral routes requests to its cache by this header.
  "x-affinity",
  "x-app",
  "x-client-request-id",
  "x-goog-api-client",
  "x-session-affinity",
  "x-session-id",
  "x-title",
]);
const sentPrefix = "x-stainless-";

/** Whether clients may set this header; expects the name in lower case. */
function isClientHeader(name: string): boolean {
  return sent.has(name) || name.startsWith(sentPrefix);
}

/**
 * Headers that clients receive from providers, besides all with "ratelimit" in their names. A decompressed
 * answer has another length than `content-length`.
 */
const returned = new Set([
  "content-type",
  "request-id",
  "x-request-id",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
]);

/** Headers of the connection, which the config may not set. */
const neverSet = new Set(["connection", "content-length", "transfer-encoding"]);

/** The headers of the request to the provider. Those of the config replace the client's and the key's. */
export function requestHeaders(
  client: IncomingHttpHeaders,
  model: UpstreamModel,
  { keyHeader }: WireApi,
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
  // The gateway reads the usage from the answer, so it must not be compressed.
  headers["accept-encoding"] = "identity";
  return headers;
}

/** A list header: configured betas are added to the client's, which its request depends on. */
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

/** Shorter keys are not masked: they would match in ordinary text. */
const shortestKey = 8;
/** Shorter words of configured headers are not masked: they may be ordinary, such as a team's name. */
const shortestHeaderWord = 16;

/** Secrets that the scheduler sends to a provider, and that no run may read. */
export function secretsOf({ key, headers }: UpstreamModel): readonly string[] {
  const words = Object.entries(headers)
    .filter(([name]) => !isClientHeader(name.toLowerCase()))
    .flatMap(([, value]) => value.split(/\s+/))
    .filter(({ length }) => length >= shortestHeaderWord);
  const keys = key !== null && key.length >= shortestKey ? [key] : [];
  return [...new Set([...keys, ...words])];
}

/**
 * Masks secrets in a provider's answer, such as a key that its error message quotes. A mask is as long as the secret,
 * so that announced lengths stay right.
 */
export function withoutSecrets(
  { status, headers, body }: UpstreamAnswer,
  secrets: readonly string[],
): UpstreamAnswer {
  if (secrets.length === 0) return { status, headers, body };
  const masks = distinctMasks(secrets.flatMap(encodedForms).map((form) => maskOf(form)));
  return { status, headers: maskedHeaders(headers, masks), body: maskedBytes(body, masks) };
}

function maskedHeaders(headers: IncomingHttpHeaders, masks: readonly Mask[]): IncomingHttpHeaders {
  const plain = (text: string) => maskedHeader(text, masks);
  const entries = Object.entries(headers).map(([name, value]) => [
    plain(name),
    typeof value === "string" ? plain(value) : value,
  ]);
  return Object.fromEntries(entries) as IncomingHttpHeaders;
}
