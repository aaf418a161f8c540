import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { pipeline, type Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";

const decoders = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/**
 * Decompresses an answer: some servers compress although they were asked not to. The returned headers keep
 * `content-encoding` only if it is unknown.
 */
export function decoded(
  message: IncomingMessage,
  headers: IncomingHttpHeaders,
): { readonly headers: IncomingHttpHeaders; readonly body: AsyncIterable<Buffer> } {
  const { "content-encoding": given = "identity", ...plain } = headers;
  const encoding = given.trim().toLowerCase();
  if (encoding === "identity") return { headers: plain, body: message };
  const decoder = decoders.get(encoding)?.();
  if (decoder === undefined) return { headers, body: message };
  // Ignored here: an error reaches the reader of the decoder.
  pipeline(message, decoder, () => undefined);
  delete plain["content-length"];
  return { headers: plain, body: decoder };
}
