import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";

const compressed = promisify(gzip);
declare module "fastify" {
  interface FastifyContextConfig {
    /** The answer holds a token. */
    isSecret?: boolean;
  }
}

/** Shorter texts fit into one packet uncompressed. */
const smallChars = 1_024;
/** `gzip` or `*`, not refused by `q=0`. */
const takesGzip = /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[\d.]+\s*)?(,|$)/i;

/**
 * Compresses the texts that a scope's routes respond with, except event streams, which take over the connection. Not for
 * answers with a token or a key: the size of an answer that also repeats a stranger's text would reveal it (BREACH).
 */
export function compressAnswers(scope: FastifyInstance): void {
  scope.addHook("onSend", async (request, reply, payload) => {
    if (typeof payload !== "string" || payload.length < smallChars) return payload;
    if (request.routeOptions.config.isSecret === true) return payload;
    reply.header("vary", "accept-encoding");
    const { "accept-encoding": accepted = "" } = request.headers;
    if (!takesGzip.test(accepted)) return payload;
    reply.header("content-encoding", "gzip");
    return compressed(payload);
  });
}
