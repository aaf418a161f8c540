import { posix } from "node:path";
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";

/** A file that a run left. */
export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  readonly content: AsyncIterable<Buffer>;
  /** Never one that browsers run, such as HTML and SVG. Default: any bytes. */
  readonly mediaType?: string;
}

/** Sends a file of a run as an attachment: a browser stores it, and never shows it as a page of the dashboard's origin. */
export function sendFile(reply: FastifyReply, file: SentFile): FastifyReply {
  const { path, bytes, content, mediaType = "application/octet-stream" } = file;
  const name = encodeURIComponent(posix.basename(path)).replaceAll(/['()*]/g, "_");
  return reply
    .type(mediaType)
    .headers({
      "content-disposition": `attachment; filename*=UTF-8''${name}`,
      "content-length": bytes,
      "content-security-policy": "default-src 'none';frame-ancestors 'none';sandbox",
      "cache-control": "private, no-cache",
    })
    .send(Readable.from(content));
}
