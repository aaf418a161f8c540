import { request as httpRequest } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { connectionHeaders, withoutHeaders } from "../../run-api/http-proxy.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { connectionTo } from "./while-away.ts";
import type { RunClock } from "../run-clock.ts";
import type { RunSocket } from "./while-away.ts";

/**
 * Streams a request in absolute form to the scheduler, and the answer back. Waits for a scheduler that is down before it
 * sends the request, once. Rejects only before the answer has begun.
 */
export async function passRequest(
  client: IncomingMessage,
  response: ServerResponse,
  { runSocket, pausedFor }: { readonly runSocket: RunSocket } & Pick<RunClock, "pausedFor">,
): Promise<void> {
  const gone = new AbortController();
  const { signal } = gone;
  response.once("close", () => gone.abort());
  const connection = await connectionTo(runSocket, signal);
  if (connection === null) return;
  const answer = await pausedFor(() => sent(client, connection, runSocket.token, signal));
  const { statusCode = 502, statusMessage = "", rawHeaders } = answer;
  response.writeHead(statusCode, statusMessage, withoutHeaders(rawHeaders, connectionHeaders));
  response.flushHeaders();
  await pipeline(answer, response).catch(() => undefined);
}

async function sent(
  client: IncomingMessage,
  connection: Socket,
  token: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { method = "GET", url, headers } = client;
  const isChunked = "transfer-encoding" in headers;
  // Without this header, Node writes the body of a GET unframed, which looks like another request.
  const chunks = isChunked ? ["Transfer-Encoding", "chunked"] : [];
  const kept = withoutHeaders(client.rawHeaders, connectionHeaders);
  const request = httpRequest({
    method,
    path: url,
    signal,
    createConnection: () => connection,
    headers: [...kept, ...chunks, "Proxy-Authorization", `Bearer ${token}`],
  });
  const response = once(request, "response") as Promise<[IncomingMessage]>;
  if (isChunked || "content-length" in headers) pipeline(client, request).catch(() => undefined);
  else request.end();
  const [answer] = await response.catch((error: unknown) => {
    throw new Error(`the scheduler went away: ${messageOf(error)}`);
  });
  return answer;
}
