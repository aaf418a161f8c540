import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { Problem } from "../../../foundation/errors.ts";
import { tunnelBufferBytes } from "../../run-api/egress/dial.ts";
import type { DoorIdentity } from "./door-identity.ts";

/** Accepts the connections with one TLS server name. */
export interface DoorTarget {
  accept(connection: Socket, onAuthenticated: () => void): void;
}

export interface DoorAddress {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
}

export interface DoorOptions {
  readonly identity: DoorIdentity;
  readonly find: (name: string) => DoorTarget;
  readonly onProblem: (message: string) => void;
  /** Timeout of a whole handshake, in ms. */
  readonly handshakeMs?: number;
  /** Limit of connections whose peer showed no token yet; the oldest is closed. */
  readonly maxUnauthenticated?: number;
}

const keepAliveMs = 30_000;
/** As many runs as may reconnect at once after a restart; the kernel holds their first packets. */
const backlog = 2_048;

/** A TLS listener for all runs on other machines; a connection's server name identifies its run. */
export function createDoor(options: DoorOptions) {
  const { identity, find, onProblem, handshakeMs = 10_000, maxUnauthenticated = 1_024 } = options;
  const waiting = waitingPeers(maxUnauthenticated);
  let server: Server | null = null;
  let listensAt: DoorAddress | null = null;
  let isClosed = false;

  const accept = (connection: TLSSocket): void => {
    const name = connection.servername as string | false;
    const authenticated = waiting.of(connection);
    find(name === false ? "" : name).accept(connection, authenticated);
  };
  const open = async (where: DoorAddress): Promise<void> => {
    const opened = createServer({
      key: identity.key,
      cert: identity.certificate,
      minVersion: "TLSv1.3",
      handshakeTimeout: handshakeMs,
      // One direction of a connection may end before the other, as for HTTP servers and tunnels.
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
      highWaterMark: tunnelBufferBytes,
    });
    opened.on("connection", (connection: Socket) => waiting.add(connection));
    opened.on("secureConnection", accept);
    // After a handshake error or timeout only this closes the connection.
    opened.on("tlsClientError", (_error, connection) => void connection.destroy());
    opened.listen({ ...where, backlog });
    await once(opened, "listening").catch((error: unknown) => {
      throw listenError(error, where);
    });
    // The door was closed meanwhile.
    if (isClosed) return void opened.close();
    opened.on("error", (error: Error) => onProblem(`the door: ${error.message}`));
    server = opened;
    listensAt = where;
  };
  const stop = (): void => {
    server?.close();
    server = listensAt = null;
  };

  return {
    /**
     * Listens at `where` only. Open connections stay. Resolves to the port, or to null if it was closed meanwhile.
     * Rejects with a Problem if it can't listen there, and then still listens at the earlier address.
     */
    listen: async (where: DoorAddress): Promise<number | null> => {
      const before = listensAt;
      const port = portOf(server);
      if (where.host === before?.host && where.port === before.port) return port;
      // The new address may have the same port.
      stop();
      try {
        await open(where);
      } catch (error) {
        if (before !== null) await open({ ...before, port: port ?? before.port });
        throw error;
      }
      return portOf(server);
    },
    /** Accepts no more connections, and closes those that showed no token yet. */
    close: () => {
      isClosed = true;
      stop();
      waiting.cut();
    },
  };
}

/** The listener where runs on other machines reach the scheduler. */
export type Door = ReturnType<typeof createDoor>;

function portOf(server: Server | null): number | null {
  const address = server?.address() ?? null;
  return typeof address === "object" && address !== null ? address.port : null;
}

function listenError(error: unknown, { host, port }: DoorAddress): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const problem = listenProblems[code];
  if (problem === undefined) return error;
  return new Problem("door_address", `the door can't listen at ${host}:${port}: ${problem}`, {
    hint: 'Set another address in config.toml, for example [cluster] listen = "0.0.0.0:7711".',
    cause: error,
  });
}

const listenProblems: Readonly<Partial<Record<string, string>>> = {
  EADDRINUSE: "the port is in use",
  EACCES: "the port needs more rights than this user has",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "this machine has no such address",
  EINVAL: "this machine has no such address",
};

/** At most `max` connections: the oldest is closed, so that unauthenticated ones can't block runs. */
function waitingPeers(max: number) {
  // A map keeps the order of arrival. A connection and its TLS socket have only the peer in common.
  const waiting = new Map<string, Socket>();
  const forget = (peer: string, connection: Socket): void => {
    if (waiting.get(peer) === connection) waiting.delete(peer);
  };
  return {
    /** Adds an accepted connection, before TLS. */
    add: (connection: Socket) => {
      const peer = peerOf(connection);
      waiting.set(peer, connection);
      connection.once("close", () => forget(peer, connection));
      const [oldest] = waiting.values();
      if (waiting.size > max) oldest?.destroy();
    },
    /** Returns the function to call when a connection, now with TLS, showed a token. */
    of: (secured: Socket): (() => void) => {
      const peer = peerOf(secured);
      return () => void waiting.delete(peer);
    },
    /** Closes all of them. */
    cut: () => {
      for (const connection of waiting.values()) connection.destroy();
    },
  };
}

function peerOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
