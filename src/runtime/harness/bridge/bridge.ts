import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { bridgeKey, bridgeUser } from "../../../foundation/contracts/bridge-key.ts";
import { isAbsoluteForm } from "../../../foundation/contracts/http-proxy.ts";
import {
  limitOpenRequests,
  pipelinedByPrograms,
} from "../../../foundation/contracts/request-limit.ts";
import {
  maxModelRequestBytes,
  modelPath,
  oauthMark,
} from "../../../foundation/contracts/model-address.ts";
import { messageOf } from "../../../foundation/errors.ts";
import type { ModelEndpoint } from "../harness.ts";
import { passRequest } from "./pass-request.ts";
import { passTunnel } from "./pass-tunnel.ts";
import { carriesProxyKey, proxyChallenge, proxyKeyMissing } from "./proxy-key.ts";
import { sendThrough } from "./send-through.ts";
import type { Through } from "./send-through.ts";
import type { RunSocket } from "./while-away.ts";
import { isSameSecret } from "../../../foundation/contracts/same-secret.ts";

export interface BridgeOptions {
  /** The run's own socket and token; the bridge adds the token, so that no command of the agent needs it. */
  readonly runSocket: RunSocket;
  /** Called with the reason when an answer broke off in the middle. */
  readonly onInterrupted: (message: string) => void;
}

/** Takes requests on the loopback interface, to models and to allowed hosts, and passes them on over the run socket. */
export interface Bridge extends ModelEndpoint, AsyncDisposable {
  /** The HTTP proxy of the run's programs, its key included. */
  readonly proxyUrl: string;
}

/**
 * Starts the bridge on a free port of 127.0.0.1. Programs that speak TCP alone reach the scheduler by it, from a
 * container without a network too. It asks for its own key, as other users of the machine can reach the port.
 */
export async function openBridge({ runSocket, onInterrupted }: BridgeOptions): Promise<Bridge> {
  const key = bridgeKey(runSocket.token);
  let interruptions = 0;
  const onCut = (): void => {
    interruptions += 1;
    onInterrupted("the scheduler went away in the middle of the model's answer");
  };
  const onBroken = (): void => onInterrupted("the model's provider broke its answer off");
  const server = createServer(limitOpenRequests(pipelinedByPrograms), (request, response) => {
    response.socket?.setNoDelay(true);
    pass(request, response, { key, runSocket, onCut, onBroken }).catch((error: unknown) =>
      refuse(response, 502, messageOf(error)),
    );
  });
  // A model may take long for an answer, and an agent for its next question.
  server.requestTimeout = 0;
  // Closing an idle connection may cross with a request that clients don't repeat, so clients close it.
  server.keepAliveTimeout = 0;
  server.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    client.setNoDelay(true);
    void passTunnel(request, client, head, { key, runSocket });
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
    interruptions: () => interruptions,
    proxyUrl: `http://${bridgeUser}:${key}@127.0.0.1:${port}`,
    baseUrl: ({ name }, upstream) => `http://127.0.0.1:${port}${modelPath(name, upstream)}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  { key, ...through }: Omit<Through, "body"> & { readonly key: string },
): Promise<void> {
  if (isAbsoluteForm(request.url ?? "")) {
    if (carriesProxyKey(request, key)) return passRequest(request, response, through.runSocket);
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

/** Held whole, as it is sent again when the scheduler went away before it answered; null when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // The rest is read too: most clients look for an answer only once they sent everything.
    if (size <= maxModelRequestBytes) chunks.push(chunk);
  }
  return size <= maxModelRequestBytes ? Buffer.concat(chunks) : null;
}

/** In a shape that the clients of all providers show the message of. */
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

/** Whether the request has the key where any of the providers' clients puts it. */
function carriesKey({ headers, url = "" }: IncomingMessage, key: string): boolean {
  const [, bearer] = /^Bearer (.+)$/i.exec(headers.authorization ?? "") ?? [];
  const query = new URL(url, "http://bridge").searchParams.get("key");
  return [bearer, headers["x-api-key"], headers["x-goog-api-key"], query].some(
    (given) => typeof given === "string" && isSameSecret(given.replace(oauthMark, ""), key),
  );
}
