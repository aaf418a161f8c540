import type { IncomingHttpHeaders } from "node:http";
import type { UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import { encodedForms } from "../../../foundation/contracts/encoded-forms.ts";
import { distinctMasks, maskedBytes, maskedHeader, maskOf } from "../masked-bytes.ts";
import type { Mask } from "../masked-bytes.ts";
import { isClientHeader } from "./headers.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** A shorter key hides nothing, and would be found in any text. */
const shortestKey = 8;
/** A configured header may as well have the name of a team. */
const shortestHeaderWord = 16;

/** What a provider gets from the scheduler and no run may read. */
export function secretsOf({
  key,
  headers,
}: Pick<UpstreamModel, "key" | "headers">): readonly string[] {
  const words = Object.entries(headers)
    .filter(([name]) => !isClientHeader(name.toLowerCase()))
    .flatMap(([, value]) => value.split(/\s+/))
    .filter(({ length }) => length >= shortestHeaderWord);
  const keys = key !== null && key.length >= shortestKey ? [key] : [];
  return [...new Set([...keys, ...words])];
}

/**
 * The answer of a provider that repeats what it was sent, such as a key in its error, with each secret masked. A mask is
 * as long as the secret, so that lengths which were announced stay right.
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
