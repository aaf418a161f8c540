import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Socket } from "node:net";
import type { RunStopReason } from "../contracts/run-stop.ts";
import { limitUnauthenticated } from "../contracts/unauthenticated-connections.ts";
import { tunnelBufferBytes } from "./egress/dial.ts";
import { clearedSocket, writeStopReason } from "./socket-dir.ts";

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
  highWaterMark: tunnelBufferBytes,
  requestTimeout: 0,
  headersTimeout: 10_000,
  connectionsCheckingInterval,
};
/** Connections of one run, whatever they do: as many tunnels as it may have, and 192 others. */
const maxConnections = 320;
/** Those among them that showed no token yet. */
const maxUnauthenticated = 64;
/** What is still open then, in ms, is cut. */
const closingMs = 1_000;

/** What comes by a run's socket. */
export interface SocketListeners {
  readonly onRequest: RequestListener;
  /** A CONNECT: the connection is the listener's from then on. */
  readonly onConnect: (request: IncomingMessage, connection: Socket, head: Buffer) => void;
}

/** By which one run reaches the scheduler: a Unix socket that answers the run's own token alone. */
export class RunSocket implements StoredSocket, Disposable {
  readonly instanceId: string;
  readonly dir: string;
  readonly tokenHash: string;
  /** The requests whose work is not done. */
  readonly open = new Set<AbortController>();
  /** Its connections to hosts. */
  readonly tunnels = new Set<AbortController>();
  /** Why no request is answered any more; null while the run lives. */
  ended: "over" | "closing" | null = null;

  readonly #server: Server;
  readonly #unauthenticated: ReturnType<typeof limitUnauthenticated>;
  readonly #onDispose: (socket: RunSocket) => void;

  constructor(
    { instanceId, dir, tokenHash }: StoredSocket,
    { onRequest, onConnect }: SocketListeners,
    onDispose: (socket: RunSocket) => void,
  ) {
    this.instanceId = instanceId;
    this.dir = dir;
    this.tokenHash = tokenHash;
    this.#onDispose = onDispose;
    this.#server = createServer(limits, onRequest);
    this.#server.on("connect", onConnect);
    this.#server.maxConnections = maxConnections;
    this.#unauthenticated = limitUnauthenticated(this.#server, maxUnauthenticated);
  }

  /** Resolves with the absolute path of the socket, as this process sees it. Rejects with a UserError. */
  async listen(onProblem: (error: Error) => void): Promise<string> {
    const path = clearedSocket(this.dir);
    this.#server.listen(path);
    await once(this.#server, "listening");
    chmodSync(path, socketMode);
    // A connection that can't be taken, such as for want of file descriptors, is no reason to stop.
    this.#server.on("error", onProblem);
    return path;
  }

  /** A request that came by this connection has the run's token. */
  markAuthenticated(connection: Socket): void {
    this.#unauthenticated.markAuthenticated(connection);
  }

  /** Writes why the run ends, for its post hooks. May throw. */
  writeStopReason(reason: RunStopReason): void {
    writeStopReason(this.dir, reason);
  }

  /** Answers what waits, takes nothing more; resolves when nothing is connected any more. */
  async end(how: "over" | "closing"): Promise<void> {
    this.ended = how;
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const request of this.open) request.abort();
    // The server knows nothing of them any more, and waits for them.
    for (const tunnel of this.tunnels) tunnel.abort();
    const cut = setTimeout(() => this.#server.closeAllConnections(), closingMs);
    await closed;
    clearTimeout(cut);
  }

  /** The run is over: its token is worth nothing from now on, and its folder goes. */
  [Symbol.dispose](): void {
    this.#onDispose(this);
  }
}
