import { createServer, request as httpRequest } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import {
  bridgeKey,
  bridgeUser,
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
import type { RunClock } from "../run-clock.ts";
import { connectionTo, type RunSocket } from "./while-away.ts";

interface BridgeOptions {
  /** The run's own socket and token; the bridge adds the token, so that no command of the agent needs it. */
  readonly runSocket: RunSocket;
  /** Excludes the time until a host answers from the run's: a person may be asked first. */
  readonly pausedFor: RunClock["pausedFor"];
}

/**
 * Starts the bridge on a free port of 127.0.0.1. It streams requests to models and allowed hosts over the run socket,
 * also from a container without a network. Requires its own key, because other users of the machine can reach the port.
 */
export async function openBridge(
  runSocket: RunSocket,
  pausedFor: RunClock["pausedFor"] = (waiting) => waiting(),
) {
  const key = bridgeKey(runSocket.token);
  const server = createServer(limitOpenRequests(pipelinedByPrograms), (request, response) => {
    response.socket?.setNoDelay(true);
    pass(request, response, { key, runSocket, pausedFor }).catch((error: unknown) => {
      const respond = (): void => refuse(response, 502, messageOf(error));
      // Most clients read the response only after they have sent everything.
      if (request.resume().complete) respond();
      else request.once("end", respond);
    });
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

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { key, ...through }: BridgeOptions & { readonly key: string },
): Promise<void> {
  const isProxied = isAbsoluteForm(request.url ?? "");
  if (isProxied && !carriesProxyKey(request, key)) {
    return refuse(response, 407, proxyKeyMissing, proxyChallenge);
  }
  if (!isProxied && !carriesKey(request, key)) {
    return refuse(response, 401, "the key is not the one for this run's models");
  }
  await forward(request, response, isProxied ? toHosts : toModels, through);
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

/** How a request authenticates to the scheduler, and the headers that are not forwarded. */
interface Login {
  readonly header: string;
  readonly dropped: ReadonlySet<string>;
}

const toHosts: Login = { header: "Proxy-Authorization", dropped: connectionHeaders };
const keyHeaders = ["authorization", "x-api-key", "x-goog-api-key"];
const toModels: Login = {
  header: "Authorization",
  dropped: new Set([...connectionHeaders, ...keyHeaders]),
};

/**
 * Streams a request to the scheduler, and the answer back. Waits for a scheduler that is down before it sends the
 * request, once. Rejects only before the answer has begun.
 */
async function forward(
  client: IncomingMessage,
  response: ServerResponse,
  login: Login,
  { runSocket, pausedFor }: BridgeOptions,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const connection = await connectionTo(runSocket, gone.signal);
  if (connection === null) return;
  const sent = send(client, connection, { ...login, token: runSocket.token }, gone.signal);
  const answer = await (login === toHosts ? pausedFor(() => sent) : sent);
  const { statusCode = 502, statusMessage = "", rawHeaders } = answer;
  response.writeHead(statusCode, statusMessage, withoutHeaders(rawHeaders, connectionHeaders));
  response.flushHeaders();
  await pipeline(answer, response).catch(() => undefined);
}

async function send(
  client: IncomingMessage,
  connection: Socket,
  { header, dropped, token }: Login & { readonly token: string },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { method = "GET", url, headers } = client;
  const isChunked = "transfer-encoding" in headers;
  // Without this header, Node writes the body of a GET unframed, which looks like another request.
  const chunks = isChunked ? ["Transfer-Encoding", "chunked"] : [];
  const request = httpRequest({
    method,
    path: url,
    signal,
    createConnection: () => connection,
    headers: [...withoutHeaders(client.rawHeaders, dropped), ...chunks, header, `Bearer ${token}`],
  });
  // A scheduler that refuses a long body closes the connection while it is sent.
  request.on("error", () => client.resume());
  const response = once(request, "response") as Promise<[IncomingMessage]>;
  client.pipe(request);
  const [answer] = await response.catch((error: unknown) => {
    throw new Error(`the connection to the scheduler broke: ${messageOf(error)}`);
  });
  return answer;
}
