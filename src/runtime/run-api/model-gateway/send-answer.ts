import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Exchange } from "./exchange.ts";
import { responseHeaders } from "./headers.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/**
 * Sends an answer on as it comes: a slow client slows the provider down. What comes after the client hung up is read all
 * the same. Rejects when the provider breaks off, after which the client's answer has no end.
 */
export async function sendAnswer(
  { status, headers, body }: UpstreamAnswer,
  { response, signal }: Pick<Exchange, "response" | "signal">,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  if (!signal.aborted) {
    response.socket?.setNoDelay(true);
    response.writeHead(status, responseHeaders(headers));
    // Clients count the time until they hear of the provider.
    response.flushHeaders();
  }
  for await (const chunk of body) {
    onChunk(chunk);
    if (!signal.aborted && !response.write(chunk)) await drained(response, signal);
  }
  if (!signal.aborted) response.end();
}

/** Resolves when the client has taken what was sent, or hung up. */
async function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await once(response, "drain", { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
