import { once } from "node:events";
import type { Exchange } from "./exchange.ts";
import { responseHeaders } from "./headers.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/**
 * Sends an answer on as it comes: a slow client slows the provider down. Rejects when the provider breaks off, after which
 * the client's answer has no end, and with the reason of the signal.
 */
export async function sendAnswer(
  { status, headers, body }: UpstreamAnswer,
  { response, signal }: Pick<Exchange, "response" | "signal">,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  signal.throwIfAborted();
  response.socket?.setNoDelay(true);
  response.writeHead(status, responseHeaders(headers));
  // Clients count the time until they hear of the provider.
  response.flushHeaders();
  for await (const chunk of body) {
    onChunk(chunk);
    if (!response.write(chunk)) await once(response, "drain", { signal });
  }
  response.end();
}
