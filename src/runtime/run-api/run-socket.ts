import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import { limitOpenRequests } from "../../foundation/contracts/request-limit.ts";
import type { RunStopReason } from "../../foundation/contracts/run-stop.ts";
import { limitUnauthenticated } from "../../foundation/contracts/unauthenticated-connections.ts";
import { OpenRequests } from "./open-requests.ts";
import type { RunTokens } from "../cluster/door/run-tokens.ts";
import { clearedSocket, writeStopReason } from "./socket-dir.ts";
import { isAbsoluteForm } from "../../foundation/contracts/http-proxy.ts";

const lengthRequired = "HTTP/1.1 411 Length Required\r\nConnection: close\r\n\r\n";

/**
 * Ends a request with a body in chunks that is not on its way to another host: the memory for a body is reserved by its
 * length, and 64 KiB of chunks would take the parser 10 ms, for each of many connections.
 */
export function refuseChunked({ headers, url = "", socket }: IncomingMessage): boolean {
  const isChunked = /chunked\s*$/i.test(headers["transfer-encoding"] ?? "");
  if (!isChunked || isAbsoluteForm(url)) return false;
  // One that was sent ahead may find its connection ended.
  if (socket.writable) socket.end(lengthRequired);
  return true;
}

/** What a later scheduler needs to serve a run that lives on. */
export interface StoredSocket {
  readonly instanceId: string;
  /** Absolute. */
  readonly dir: string;
  /** SHA-256 of the run's token, hex. */
  readonly tokenHash: string;
}

/** The run's user may be any other. */
const socketMode = 0o666;
const connectionsCheckingInterval = 5_000;
/**
 * Times in ms. A large request to a model waits, unread, until there is room for it, so none is cut off as a whole; those
 * without a token are not read.
 */
const limits = {
  maxHeaderSize: 8_192,
  // What connections hold that are not read: there may be 320 of each run.
  highWaterMark: 16_384,
  requestTimeout: 0,
  headersTimeout: 10_000,
  connectionsCheckingInterval,
  ...limitOpenRequests(2, refuseChunked),
};
/** Connections of one run, whatever they do: as many tunnels as it may have, and 192 others. */
const maxConnections = 320;
/** The most connections that showed no token yet. */
const maxUnauthenticated = 64;
/** Requests that may wait at the same time. Those of a run on another machine are few, and must not wait for its agent's. */
const maxOpenRequests = 64;
const maxRemoteRequests = 16;
/** What is still open then, in ms, is cut. */
const closingMs = 1_000;

/** What comes by a run's socket. */
export interface SocketListeners {
  readonly onRequest: RequestListener;
  /** A CONNECT: the connection is the listener's from then on. */
  readonly onConnect: (request: IncomingMessage, connection: Socket, head: Buffer) => void;
}

/** Whose a socket is. */
export interface SocketOwner {
  readonly instanceId: string;
  /** Absolute path of the folder that is its own; null for a run on another machine, which makes its socket there. */
  readonly dir: string | null;
  readonly tokens: RunTokens;
}

/**
 * By which one run reaches the scheduler: a Unix socket, or connections that come by the door, where the run's own token
 * alone is answered.
 */
export class RunSocket implements SocketOwner, Disposable {
  readonly instanceId: string;
  readonly dir: string | null;
  readonly tokens: RunTokens;
  /** What it asks of the scheduler. */
  readonly requests = new OpenRequests(maxOpenRequests);
  /** What the process on another machine does for it. */
  readonly remoteRequests = new OpenRequests(maxRemoteRequests);
  /** Its connections to hosts. */
  readonly tunnels = new Set<AbortController>();
  /** Why no request is answered any more; null while the run lives. */
  ended: "over" | "closing" | null = null;

  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  readonly #unauthenticated: ReturnType<typeof limitUnauthenticated>;
  readonly #onAuthenticated = new WeakMap<Socket, () => void>();
  readonly #onDispose: (socket: RunSocket) => void;
  #isClosed = false;

  constructor(
    { instanceId, dir, tokens }: SocketOwner,
    { onRequest, onConnect }: SocketListeners,
    onDispose: (socket: RunSocket) => void,
  ) {
    this.instanceId = instanceId;
    this.dir = dir;
    this.tokens = tokens;
    this.#onDispose = onDispose;
    this.#server = createServer(limits, onRequest);
    this.#server.on("connect", (request, connection: Socket, head) => {
      // Its connection may be over the limit of open requests.
      if (!connection.destroyed) onConnect(request, connection, head);
    });
    this.#server.maxConnections = maxConnections;
    this.#server.on("connection", (connection: Socket) => this.#track(connection));
    this.#unauthenticated = limitUnauthenticated(this.#server, maxUnauthenticated);
    // Node checks the time of headers from here on, also of connections that others accepted.
    if (dir === null) this.#server.emit("listening");
  }

  /** Listens in its folder; the absolute path of the socket, as this process sees it. Rejects with a UserError. */
  async listen(dir: string, onProblem: (error: Error) => void): Promise<string> {
    const path = clearedSocket(dir);
    this.#server.listen(path);
    await once(this.#server, "listening");
    chmodSync(path, socketMode);
    // A connection that can't be taken, such as for want of file descriptors, is no reason to stop.
    this.#server.on("error", onProblem);
    return path;
  }

  /** A token for the claimer with this id; committed. Rejects with a RunApiError for any other one. */
  claim(claimId: string): Promise<string> {
    return this.tokens.claim(claimId);
  }

  /** Takes a connection of the run that came by the door; its first request with a token is notified. */
  accept(connection: Socket, onAuthenticated: () => void): void {
    if (this.#isClosed || this.#connections.size >= maxConnections) {
      return void connection.destroy();
    }
    this.#onAuthenticated.set(connection, onAuthenticated);
    this.#server.emit("connection", connection);
  }

  /** A request that came by this connection has the run's token. */
  markAuthenticated(connection: Socket): void {
    this.#unauthenticated.markAuthenticated(connection);
    this.#onAuthenticated.get(connection)?.();
  }

  /** Writes why the run ends, for its post hooks. May throw. A run on another machine gets it with its inbox. */
  writeStopReason(reason: RunStopReason): void {
    if (this.dir !== null) writeStopReason(this.dir, reason);
  }

  /** Answers what waits, takes nothing more; resolves when nothing is connected any more. */
  async end(how: "over" | "closing"): Promise<void> {
    this.ended = how;
    this.#isClosed = true;
    this.#server.close();
    this.requests.endAll();
    this.remoteRequests.endAll();
    for (const tunnel of this.tunnels) tunnel.abort();
    const cut = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy();
    }, closingMs);
    await Promise.all([...this.#connections].map(closeOf));
    clearTimeout(cut);
  }

  /** The run is over: its token is worth nothing from now on, and its folder goes. */
  [Symbol.dispose](): void {
    this.#onDispose(this);
  }

  #track(connection: Socket): void {
    this.#connections.add(connection);
    connection.once("close", () => this.#connections.delete(connection));
  }
}

function closeOf(connection: Socket): Promise<void> {
  return new Promise((resolve) => void connection.once("close", () => resolve()));
}
