import type { IncomingHttpHeaders } from "node:http";
import type { UpstreamModel } from "../../contracts/model-gateway.ts";
import { isClientHeader } from "./headers.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** A shorter key hides nothing, and would be found in any text. */
const shortestKey = 8;
/** A configured header may as well have the name of a team. */
const shortestHeaderWord = 16;
const mask = "*";

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
  const patterns = secrets.map((secret) => Buffer.from(secret));
  return { status, headers: maskedHeaders(headers, secrets), body: masked(body, patterns) };
}

function maskedHeaders(
  headers: IncomingHttpHeaders,
  secrets: readonly string[],
): IncomingHttpHeaders {
  const plain = (text: string) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, mask.repeat(secret.length)), text);
  const entries = Object.entries(headers).map(([name, value]) => [
    plain(name),
    typeof value === "string" ? plain(value) : value,
  ]);
  return Object.fromEntries(entries) as IncomingHttpHeaders;
}

/** Holds back no more than a piece at the end of a chunk that a secret may begin with. */
async function* masked(
  body: AsyncIterable<Buffer>,
  patterns: readonly Buffer[],
): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    const bytes = replaced(held.length === 0 ? chunk : Buffer.concat([held, chunk]), patterns);
    const end = bytes.length - Math.max(...patterns.map((pattern) => begun(bytes, pattern)));
    held = bytes.subarray(end);
    if (end > 0) yield bytes.subarray(0, end);
  }
  if (held.length > 0) yield held;
}

/** A copy where there is something to mask: the chunk is not this function's. */
function replaced(bytes: Buffer, patterns: readonly Buffer[]): Buffer {
  let copy: Buffer | null = null;
  for (const pattern of patterns) {
    for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + 1)) {
      copy ??= Buffer.from(bytes);
      copy.fill(mask, at, at + pattern.length);
    }
  }
  return copy ?? bytes;
}

/** How many bytes at the end are the beginning of a pattern, and not yet all of it. */
function begun(bytes: Buffer, pattern: Buffer): number {
  const first = pattern[0] ?? 0;
  const from = Math.max(0, bytes.length - pattern.length + 1);
  for (let at = bytes.indexOf(first, from); at !== -1; at = bytes.indexOf(first, at + 1)) {
    const length = bytes.length - at;
    if (bytes.compare(pattern, 0, length, at) === 0) return length;
  }
  return 0;
}
