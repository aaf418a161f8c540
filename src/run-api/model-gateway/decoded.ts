import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { pipeline } from "node:stream";
import type { Transform } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from "node:zlib";

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** The answer as it is read: some servers compress although they were asked not to. */
export function decoded(
  message: IncomingMessage,
  headers: IncomingHttpHeaders,
): { readonly headers: IncomingHttpHeaders; readonly body: AsyncIterable<Buffer> } {
  const decoder = decoders[headers["content-encoding"] ?? ""]?.();
  if (decoder === undefined) return { headers, body: message };
  // Its error reaches the reader of the decoder.
  pipeline(message, decoder, () => undefined);
  const decodedHeaders = { ...headers };
  delete decodedHeaders["content-length"];
  return { headers: decodedHeaders, body: decoder };
}
