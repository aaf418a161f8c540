import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { once } from "node:events";
import { messageOf } from "../errors.ts";
import type { RunApi } from "../contracts/run-api.ts";
import { limitUnauthenticated } from "../contracts/unauthenticated-connections.ts";
import { runApiApp } from "./app.ts";
import type { RunSocket } from "./app.ts";
import { clearedSocket, makeSocketDir, removeSocketDir } from "./socket-dir.ts";
import { hashOf, newToken } from "./token.ts";

/** What a later scheduler needs to serve a run that lives on. */
export interface StoredSocket {
  /** Absolute. */
  readonly dir: string;
  /** SHA-256 of the run's token, hex. */
  readonly tokenHash: string;
}

export interface NewRunSocket extends StoredSocket {
  /** For the run alone; only its hash is kept. */
  readonly token: string;
  /** Absolute path as this process sees it. */
  readonly socket: string;
}

/** How runs reach the scheduler: a Unix socket and a token for each of them. */
export interface RunSockets {
  /** Starts to answer; until then a request is told to come again. */
  serve(abilities: RunApi): void;
  /** Makes a run's socket in a folder of its own below `baseDir`, which must exist. Rejects with a UserError. */
  open(instanceId: string, baseDir: string): Promise<NewRunSocket>;
  /** Serves a run of an earlier scheduler at the same place. Rejects with a UserError. */
  reopen(instanceId: string, kept: StoredSocket): Promise<void>;
  /** Where a run's socket is; null without one. */
  dirOf(instanceId: string): string | null;
  /** The run is over: its token is worth nothing from now on, and its folder goes. */
  revoke(instanceId: string): void;
  /** The scheduler stops: what waits is told so. Folders of live runs stay, as the runs may. */
  close(): Promise<void>;
}

export interface RunSocketsOptions {
  readonly onProblem: (message: string) => void;
  /** 64 when absent. */
  readonly maxOpenRequests?: number;
}

/** The run's user may be any other. */
const socketMode = 0o666;
const limits = { maxHeaderSize: 8_192, requestTimeout: 30_000, headersTimeout: 10_000 };
/** How often slow requests are looked for, in ms. */
const connectionsCheckingInterval = 5_000;
/** Connections of one run, whatever they do. */
const maxConnections = 192;
/** Those among them that showed no token yet. */
const maxUnauthenticated = 64;
/** What is still open then, in ms, is cut. */
const closingMs = 1_000;

interface LiveSocket extends RunSocket {
  readonly dir: string;
  readonly server: Server;
  /** Answers what waits, takes nothing more; resolves when nothing is connected any more. */
  end(how: "over" | "closing"): Promise<void>;
}

/** The sockets of one scheduler's runs. */
export function createRunSockets({
  onProblem,
  maxOpenRequests = 64,
}: RunSocketsOptions): RunSockets {
  let abilities: RunApi | null = null;
  const live = new Map<string, LiveSocket>();
  const removals = new Set<Promise<void>>();
  const origins = new WeakMap<IncomingMessage, RunSocket>();
  const app = runApiApp({
    socketOf: (request) => origins.get(request),
    abilities: () => abilities,
    maxOpenRequests,
    onUnexpected: (instanceId, error) => onProblem(`${instanceId}: ${messageOf(error)}`),
  });
  const ready = app.ready();

  async function listen(instanceId: string, { dir, tokenHash }: StoredSocket): Promise<string> {
    await ready;
    const socket = liveSocket(instanceId, dir, tokenHash, (request, response) => {
      origins.set(request, socket);
      app.routing(request, response);
    });
    const path = clearedSocket(dir);
    socket.server.listen(path);
    await once(socket.server, "listening");
    chmodSync(path, socketMode);
    // A connection that can't be taken, such as for want of file descriptors, is no reason to stop.
    socket.server.on("error", (error) => onProblem(`${instanceId}: ${messageOf(error)}`));
    live.set(instanceId, socket);
    return path;
  }

  return {
    serve: (given) => (abilities = given),
    open: async (instanceId, baseDir) => {
      const dir = makeSocketDir(baseDir);
      const token = newToken();
      const tokenHash = hashOf(token);
      const socket = await listen(instanceId, { dir, tokenHash }).catch(async (error: unknown) => {
        await removeSocketDir(dir);
        throw error;
      });
      return { dir, token, tokenHash, socket };
    },
    reopen: async (instanceId, kept) => {
      await listen(instanceId, kept);
    },
    dirOf: (instanceId) => live.get(instanceId)?.dir ?? null,
    revoke: (instanceId) => {
      const socket = live.get(instanceId);
      if (socket === undefined) return;
      live.delete(instanceId);
      void socket.end("over");
      const removal = removeSocketDir(socket.dir)
        .catch((error: unknown) => onProblem(`${socket.dir} is left: ${messageOf(error)}`))
        .finally(() => removals.delete(removal));
      removals.add(removal);
    },
    close: async () => {
      await Promise.all([...live.values()].map((socket) => socket.end("closing")));
      live.clear();
      await Promise.all([app.close(), ...removals]);
    },
  };
}

function liveSocket(
  instanceId: string,
  dir: string,
  tokenHash: string,
  onRequest: Parameters<typeof createServer>[1],
): LiveSocket {
  const server = createServer({ ...limits, connectionsCheckingInterval }, onRequest);
  server.maxConnections = maxConnections;
  const unauthenticated = limitUnauthenticated(server, maxUnauthenticated);
  const open = new Set<AbortController>();
  let ended: "over" | "closing" | null = null;
  return {
    ...{ instanceId, dir, tokenHash, server, open },
    markAuthenticated: (connection) => unauthenticated.markAuthenticated(connection),
    ended: () => ended,
    end: async (how) => {
      ended = how;
      const closed = once(server, "close");
      server.close();
      for (const request of open) request.abort();
      const cut = setTimeout(() => server.closeAllConnections(), closingMs);
      await closed;
      clearTimeout(cut);
    },
  };
}
