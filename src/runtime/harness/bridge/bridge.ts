import { createServer, request as httpRequest } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import {
  bridgeKey,
  bridgeUser,
  maxModelRequestBytes,
  modelPath,
  oauthMark,
} from "../../../foundation/contracts/model-gateway.ts";
import { isAbsoluteForm, connectionHeaders, withoutHeaders } from "../../wire/http-proxy.ts";
import {
  limitOpenRequests,
  pipelinedByPrograms,
  isSameSecret,
} from "../../../foundation/contracts/request-limit.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { passTunnel, carriesProxyKey, proxyChallenge, proxyKeyMissing } from "./pass-tunnel.ts";
import { createExchanges } from "./exchanges.ts";
import { sendThrough, type Through } from "./send-through.ts";
import type { RunClock } from "../run-clock.ts";
import { connectionTo, type RunSocket } from "./while-away.ts";

interface BridgeOptions {
  /** The run's own socket and token; the bridge adds the token, so that no command of the agent needs it. */
  readonly runSocket: RunSocket;
  /** Excludes the time until a host answers from the run's: a person may be asked first. */
  readonly pausedFor?: RunClock["pausedFor"];
  /** Called with the reason when an answer broke off in the middle. */
  readonly onInterrupted: (message: string) => void;
}

/**
 * Starts the bridge on a free port of 127.0.0.1. It forwards requests to models and allowed hosts over the run socket,
 * also from a container without a network. Requires its own key, because other users of the machine can reach the port.
 */
export async function openBridge({
  runSocket,
  pausedFor = (waiting) => waiting(),
  onInterrupted,
}: BridgeOptions) {
  const key = bridgeKey(runSocket.token);
  const exchanges = createExchanges();
  const server = createServer(limitOpenRequests(pipelinedByPrograms), (request, response) => {
    response.socket?.setNoDelay(true);
    const watch = exchanges.watchOf(request);
    pass(request, response, { key, runSocket, pausedFor, watch, onInterrupted }).catch(
      (error: unknown) => refuse(response, 502, messageOf(error)),
    );
  });
  // No timeout, because models may take long to answer, and agents to send the next request.
  server.requestTimeout = 0;
  // Closing an idle connection may cross with a request that clients don't repeat, so clients close it.
  server.keepAliveTimeout = 0;
  server.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    client.setNoDelay(true);
    void passTunnel(request, client, head, { key, runSocket, pausedFor });
  });
  // The server no longer tracks the socket of a tunnel.
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    key,
    observe: exchanges.observe,
    /** The HTTP proxy of the run's programs, its key included. */
    proxyUrl: `http://${bridgeUser}:${key}@127.0.0.1:${port}`,
    baseUrl: ({ name }: { readonly name: string }, upstream: string) =>
      `http://127.0.0.1:${port}${modelPath(name, upstream)}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}

export type Bridge = Awaited<ReturnType<typeof openBridge>>;

/** The key of the proxy, and the run's clock. */
type HostAccess = { readonly key: string } & Required<Pick<BridgeOptions, "pausedFor">>;

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { key, pausedFor, ...through }: Omit<Through, "body"> & HostAccess,
): Promise<void> {
  if (isAbsoluteForm(request.url ?? "")) {
    if (carriesProxyKey(request, key))
      return passRequest(request, response, { runSocket: through.runSocket, pausedFor });
    refuse(response, 407, proxyKeyMissing, proxyChallenge);
    return;
  }
  if (!carriesKey(request, key)) {
    refuse(response, 401, "this is not the key of this run's models");
    return;
  }
  const body = await bodyOf(request);
  if (body === null) {
    refuse(response, 413, `the request is larger than ${maxModelRequestBytes} bytes`);
    return;
  }
  await sendThrough(request, response, { ...through, body });
}

/** The whole body, kept so that it can be sent again if the scheduler restarts; null if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // The rest of the request is read too: most clients read the response only after they have sent everything.
    if (size <= maxModelRequestBytes) chunks.push(chunk);
  }
  return size <= maxModelRequestBytes ? Buffer.concat(chunks) : null;
}

/** Responds with an error in a format from which the clients of all providers show the message. */
function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const own = { "content-type": "application/json", connection: "close" };
  response.writeHead(status, { ...own, ...headers });
  response.end(JSON.stringify({ type: "error", error: { type: "run_error", message } }));
}

/** Whether the request carries the key in any of the places that providers' clients use. */
function carriesKey({ headers, url = "" }: IncomingMessage, key: string): boolean {
  const [, bearer] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  const query = new URL(url, "http://bridge").searchParams.get("key");
  return [bearer, headers["x-api-key"], headers["x-goog-api-key"], query].some(
    (given) => typeof given === "string" && isSameSecret(given.replace(oauthMark, ""), key),
  );
}

/**
 * Streams a request in absolute form to the scheduler, and the answer back. Waits for a scheduler that is down before it
 * sends the request, once. Rejects only before the answer has begun.
 */
async function passRequest(
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
