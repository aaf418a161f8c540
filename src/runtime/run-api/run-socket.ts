import type { StopReason } from "../../../streams/outcomes.ts";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  limitOpenRequests,
  limitUnauthenticated,
} from "../../foundation/contracts/request-limit.ts";
import type { RunTokens } from "./run-tokens.ts";
import { clearedSocket, writeStopReason } from "./socket-dir.ts";
import { isAbsoluteForm } from "../wire/http-proxy.ts";
import { closeOf } from "../wire/join-sockets.ts";
import type { Problem } from "../../foundation/errors.ts";
import { refusal } from "../wire/protocol.ts";

const lengthRequired = "HTTP/1.1 411 Length Required\r\nConnection: close\r\n\r\n";

/**
 * Refuses a request to the scheduler with a chunked body: memory for a body is reserved by its announced length, and
 * 64 KiB of small chunks would take the parser 10 ms, on each of many connections.
 */
export function refuseChunked({ headers, url = "", socket }: IncomingMessage): boolean {
  const isChunked = /chunked\s*$/i.test(headers["transfer-encoding"] ?? "");
  if (!isChunked || isAbsoluteForm(url)) return false;
  // A pipelined request may find its connection ended.
  if (socket.writable) socket.end(lengthRequired);
  return true;
}

/** The stored record by which a later scheduler serves a run that is still alive. */
export interface StoredSocket {
  readonly instanceId: string;
  /** Absolute. */
  readonly dir: string;
  /** SHA-256 of the run's token, hex. */
  readonly tokenHash: string;
}

/** Writable by all, because the run may belong to any OS user. */
const socketMode = 0o666;
const connectionsCheckingInterval = 5_000;
/**
 * Times in ms. No total request timeout: a large request to a model waits, unread, until memory is free. Requests
 * without a token are not read.
 */
const limits = {
  maxHeaderSize: 8_192,
  // Bounds the memory of unread connections: each run may have 320.
  highWaterMark: 16_384,
  requestTimeout: 0,
  headersTimeout: 10_000,
  connectionsCheckingInterval,
  ...limitOpenRequests(2, refuseChunked),
};
/** The most connections of one run: 128 tunnels and 192 others. */
const maxConnections = 320;
/** The most connections without an authenticated request. */
const maxUnauthenticated = 64;
/** The most open requests of an agent; requests of a remote run's own process have a separate, smaller limit. */
const maxOpenRequests = 64;
const maxRemoteRequests = 16;
/** How long connections may take to close before they are cut, in ms. */
const closingMs = 1_000;

/** The run that a socket belongs to. */
export interface SocketOwner {
  readonly instanceId: string;
  /** Absolute path of the socket's folder; null for a run on another machine, which creates its socket there. */
  readonly dir: string | null;
  readonly tokens: RunTokens;
}

/**
 * The socket by which one run reaches the scheduler: a Unix socket, or TLS connections of a run on another machine.
 * Only requests with the run's own token are answered.
 */
export class RunSocket implements SocketOwner, Disposable {
  readonly instanceId: string;
  readonly dir: string | null;
  readonly tokens: RunTokens;
  /** Open requests of the agent to the scheduler. */
  readonly requests = new OpenRequests(maxOpenRequests);
  /** Open requests of the run's process on another machine. */
  readonly remoteRequests = new OpenRequests(maxRemoteRequests);
  /** The run's connections to hosts. */
  readonly tunnels = new Set<AbortController>();
  /** Why requests are refused; null while the run is alive. */
  ended: "over" | "closing" | null = null;

  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  readonly #unauthenticated: ReturnType<typeof limitUnauthenticated>;
  readonly #onAuthenticated = new WeakMap<Socket, () => void>();
  readonly #onDispose: (socket: RunSocket) => void;
  #isClosed = false;

  constructor(
    { instanceId, dir, tokens }: SocketOwner,
    onRequest: RequestListener,
    /** Handles a CONNECT and takes over its connection. */
    onConnect: (request: IncomingMessage, connection: Socket, head: Buffer) => void,
    onDispose: (socket: RunSocket) => void,
  ) {
    this.instanceId = instanceId;
    this.dir = dir;
    this.tokens = tokens;
    this.#onDispose = onDispose;
    this.#server = createServer(limits, onRequest);
    this.#server.on("connect", (request, connection: Socket, head) => {
      // The connection was destroyed if it exceeded the limit of open requests.
      if (!connection.destroyed) onConnect(request, connection, head);
    });
    this.#server.maxConnections = maxConnections;
    this.#server.on("connection", (connection: Socket) => this.#track(connection));
    this.#unauthenticated = limitUnauthenticated(this.#server, maxUnauthenticated);
    // Starts Node's check of header timeouts for connections that another server accepted.
    if (dir === null) this.#server.emit("listening");
  }

  /** Listens in the folder. Resolves with the socket's absolute path on this machine. Rejects with a Problem. */
  async listen(dir: string, onProblem: (error: Error) => void): Promise<string> {
    const path = clearedSocket(dir);
    this.#server.listen(path);
    await once(this.#server, "listening");
    chmodSync(path, socketMode);
    // The server survives a failed accept, for example when file descriptors run out.
    this.#server.on("error", onProblem);
    return path;
  }

  /** Commits and returns a token for the process with this claim id. Rejects with a Problem for other claim ids. */
  claim(claimId: string): Promise<string> {
    return this.tokens.claim(claimId);
  }

  /** Accepts a connection of a remote run; calls `onAuthenticated` on a request with a valid token. */
  accept(connection: Socket, onAuthenticated: () => void): void {
    if (this.#isClosed || this.#connections.size >= maxConnections) {
      return void connection.destroy();
    }
    this.#onAuthenticated.set(connection, onAuthenticated);
    this.#server.emit("connection", connection);
  }

  /** Marks a connection that sent a request with the run's token. */
  markAuthenticated(connection: Socket): void {
    this.#unauthenticated.markAuthenticated(connection);
    this.#onAuthenticated.get(connection)?.();
  }

  /** Writes why the run ends, for its post hooks. May throw. A run on another machine reads it from its inbox. */
  writeStopReason(reason: StopReason): void {
    if (this.dir !== null) writeStopReason(this.dir, reason);
  }

  /** Ends waiting requests and accepts no more; resolves when all connections are closed. */
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

  /** Ends the socket when the run is over: invalidates the token and removes the folder. */
  [Symbol.dispose](): void {
    this.#onDispose(this);
  }

  #track(connection: Socket): void {
    this.#connections.add(connection);
    connection.once("close", () => this.#connections.delete(connection));
  }
}

/** The requests of one run with unfinished work. */
class OpenRequests {
  readonly #max: number;
  readonly #open = new Set<AbortController>();

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Resolves with the work's result. The work's signal aborts when the client hangs up, or on `endAll`; then this
   * rejects, regardless of the work.
   */
  async answer<T>(
    response: ServerResponse,
    whyEnded: () => Problem,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.#open.size >= this.#max) {
      throw refusal("too_many_requests", `This run waits for ${this.#open.size} answers already.`);
    }
    const left = new AbortController();
    this.#open.add(left);
    response.once("close", () => left.abort());
    const working = work(left.signal);
    // Counts until the work ends: it may outlive its request, and a client that reconnects must not accumulate work.
    const done = (): void => void this.#open.delete(left);
    working.then(done, done);
    return Promise.race([working, rejectedAt(left.signal, whyEnded)]);
  }

  endAll(): void {
    for (const request of this.#open) request.abort();
  }
}

function rejectedAt(signal: AbortSignal, why: () => Problem): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(why()), { once: true });
  });
}
