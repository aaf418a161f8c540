import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import { once } from "node:events";
import { messageOf } from "../errors.ts";
import type { RunApi } from "../contracts/run-api.ts";
import { limitUnauthenticated } from "../contracts/unauthenticated-connections.ts";
import { channelApp } from "./channel-app.ts";
import type { Channel } from "./channel-app.ts";
import { clearedSocket, makeChannelDir, removeChannelDir } from "./channel-dir.ts";
import { hashOf, newToken } from "./token.ts";

/** What a later scheduler needs to serve a run that lives on. */
export interface KeptChannel {
  /** Absolute. */
  readonly dir: string;
  /** SHA-256 of the run's token, hex. */
  readonly tokenHash: string;
}

export interface NewChannel extends KeptChannel {
  /** For the run alone; only its hash is kept. */
  readonly token: string;
  /** Absolute path as this process sees it. */
  readonly socket: string;
}

/** How runs reach the scheduler: a Unix socket and a token for each of them. */
export interface Channels {
  /** Starts to answer; until then a request is told to come again. */
  serve(abilities: RunApi): void;
  /** Makes a run's channel in a folder of its own below `baseDir`, which must exist. Rejects with a UserError. */
  open(instanceId: string, baseDir: string): Promise<NewChannel>;
  /** Serves a run of an earlier scheduler at the same place. Rejects with a UserError. */
  reopen(instanceId: string, kept: KeptChannel): Promise<void>;
  /** Where a run's channel is; null without one. */
  dirOf(instanceId: string): string | null;
  /** The run is over: its token is worth nothing from now on, and its folder goes. */
  revoke(instanceId: string): void;
  /** The scheduler stops: what waits is told so. Folders of live runs stay, as the runs may. */
  close(): Promise<void>;
}

export interface ChannelsOptions {
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

interface Live extends Channel {
  readonly dir: string;
  readonly server: Server;
  /** Answers what waits, takes nothing more; resolves when nothing is connected any more. */
  end(how: "over" | "closing"): Promise<void>;
}

/** The channels of one scheduler's runs. */
export function createChannels({ onProblem, maxOpenRequests = 64 }: ChannelsOptions): Channels {
  let abilities: RunApi | null = null;
  const live = new Map<string, Live>();
  const removals = new Set<Promise<void>>();
  const origins = new WeakMap<IncomingMessage, Channel>();
  const app = channelApp({
    channelOf: (request) => origins.get(request),
    abilities: () => abilities,
    maxOpenRequests,
    onUnexpected: (instanceId, error) => onProblem(`${instanceId}: ${messageOf(error)}`),
  });
  const ready = app.ready();

  async function listen(instanceId: string, { dir, tokenHash }: KeptChannel): Promise<string> {
    await ready;
    const channel = liveChannel(instanceId, dir, tokenHash, (request, response) => {
      origins.set(request, channel);
      app.routing(request, response);
    });
    const socket = clearedSocket(dir);
    channel.server.listen(socket);
    await once(channel.server, "listening");
    chmodSync(socket, socketMode);
    // A connection that can't be taken, such as for want of file descriptors, is no reason to stop.
    channel.server.on("error", (error) => onProblem(`${instanceId}: ${messageOf(error)}`));
    live.set(instanceId, channel);
    return socket;
  }

  return {
    serve: (given) => (abilities = given),
    open: async (instanceId, baseDir) => {
      const dir = makeChannelDir(baseDir);
      const token = newToken();
      const tokenHash = hashOf(token);
      const socket = await listen(instanceId, { dir, tokenHash }).catch(async (error: unknown) => {
        await removeChannelDir(dir);
        throw error;
      });
      return { dir, token, tokenHash, socket };
    },
    reopen: async (instanceId, kept) => {
      await listen(instanceId, kept);
    },
    dirOf: (instanceId) => live.get(instanceId)?.dir ?? null,
    revoke: (instanceId) => {
      const channel = live.get(instanceId);
      if (channel === undefined) return;
      live.delete(instanceId);
      void channel.end("over");
      const removal = removeChannelDir(channel.dir)
        .catch((error: unknown) => onProblem(`${channel.dir} is left: ${messageOf(error)}`))
        .finally(() => removals.delete(removal));
      removals.add(removal);
    },
    close: async () => {
      await Promise.all([...live.values()].map((channel) => channel.end("closing")));
      live.clear();
      await Promise.all([app.close(), ...removals]);
    },
  };
}

function liveChannel(
  instanceId: string,
  dir: string,
  tokenHash: string,
  onRequest: Parameters<typeof createServer>[1],
): Live {
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
