import { request as httpRequest } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { connectionHeaders, withoutHeaders } from "../../../foundation/contracts/http-proxy.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { repeatWhileAway, unlessAway } from "./while-away.ts";
import type { RunSocket } from "./while-away.ts";

/** Methods that may be sent twice. */
const repeatable = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Passes a request in absolute form on to the scheduler, and the answer back, both as they come. It waits for a scheduler
 * that is away; what may not be sent twice is sent once it is there. Rejects before the answer began.
 */
export async function passRequest(
  client: IncomingMessage,
  response: ServerResponse,
  runSocket: RunSocket,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer = await repeatWhileAway(runSocket, gone.signal, () =>
    attempt(client, runSocket, gone.signal),
  );
  if (answer === null) return;
  const { statusCode = 502, statusMessage = "", rawHeaders } = answer;
  response.writeHead(statusCode, statusMessage, withoutHeaders(rawHeaders, connectionHeaders));
  response.flushHeaders();
  await pipeline(answer, response).catch(() => undefined);
}

async function attempt(
  client: IncomingMessage,
  { socket, token }: RunSocket,
  signal: AbortSignal,
): Promise<IncomingMessage | null> {
  const { method = "GET", url } = client;
  const hasBody = "content-length" in client.headers || "transfer-encoding" in client.headers;
  // Without it, Node writes the body of a GET after its head as it is: as if it were another request.
  const chunks = "transfer-encoding" in client.headers ? ["Transfer-Encoding", "chunked"] : [];
  const kept = withoutHeaders(client.rawHeaders, connectionHeaders);
  const connection = await connected(socket, signal);
  const sent = httpRequest({
    method,
    path: url,
    signal,
    createConnection: () => connection,
    headers: [...kept, ...chunks, "Proxy-Authorization", `Bearer ${token}`],
  });
  const response = once(sent, "response") as Promise<[IncomingMessage]>;
  if (!hasBody) sent.end();
  else pipeline(client, sent).catch(() => undefined);
  if (hasBody || !repeatable.has(method)) {
    const [answer] = await response.catch((error: unknown) => {
      // Without its code: it is not sent again.
      throw new Error(`the scheduler went away: ${messageOf(error)}`);
    });
    return answer;
  }
  const [answer] = await response;
  return unlessAway(answer);
}

async function connected(path: string, signal: AbortSignal): Promise<Socket> {
  const socket = connect(path);
  await once(socket, "connect", { signal }).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
  return socket;
}
