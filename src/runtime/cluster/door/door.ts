import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer } from "node:tls";
import type { Server, TLSSocket } from "node:tls";
import { UserError } from "../../../foundation/errors.ts";
import { tunnelBufferBytes } from "../../run-api/egress/dial.ts";
import type { DoorIdentity } from "./door-identity.ts";
import { waitingPeers } from "./waiting-peers.ts";

/** Takes the connections with one TLS server name. */
export interface DoorTarget {
  accept(connection: Socket, onAuthenticated: () => void): void;
}

export interface DoorAddress {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
}

/** The listener where runs on other machines reach the scheduler. */
export interface Door {
  /**
   * Listens there, and no more where it did before; what is connected stays. Null for nowhere. Resolves with the port.
   * Rejects with a UserError where it can't, and then listens where it did before.
   */
  listen(where: DoorAddress | null): Promise<number | null>;
  /** Takes no more connections, and cuts those that showed no token yet. */
  close(): void;
}

export interface DoorDeps {
  readonly identity: DoorIdentity;
  readonly find: (name: string) => DoorTarget;
  readonly onProblem: (message: string) => void;
  readonly limits?: DoorLimits;
}

interface DoorLimits {
  /** For a whole handshake. */
  readonly handshakeMs: number;
  /** Connections whose peer showed no token yet; the oldest is cut. */
  readonly maxUnauthenticated: number;
}

const defaultLimits: DoorLimits = { handshakeMs: 10_000, maxUnauthenticated: 1_024 };
const keepAliveMs = 30_000;
/** As many runs as come back at once after a restart; the kernel holds their first packets. */
const backlog = 2_048;

/** A TLS listener for all runs on other machines; a connection's server name says whose it is. */
export function createDoor(deps: DoorDeps): Door {
  const { identity, find, onProblem, limits = defaultLimits } = deps;
  const waiting = waitingPeers(limits.maxUnauthenticated);
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
      handshakeTimeout: limits.handshakeMs,
      // As HTTP servers and tunnels have it: one direction may end before the other.
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveMs,
      highWaterMark: tunnelBufferBytes,
    });
    opened.on("connection", (connection: Socket) => waiting.add(connection));
    opened.on("secureConnection", accept);
    // Nothing else closes it when its handshake takes too long.
    opened.on("tlsClientError", (_error, connection) => void connection.destroy());
    opened.listen({ ...where, backlog });
    await once(opened, "listening").catch((error: unknown) => {
      throw listenError(error, where);
    });
    // It was closed meanwhile.
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
    listen: async (where) => {
      const before = listensAt;
      const port = portOf(server);
      if (where?.host === before?.host && where?.port === before?.port) return port;
      // The new address may be of the same port.
      stop();
      try {
        if (where !== null) await open(where);
      } catch (error) {
        if (before !== null) await open({ ...before, port: port ?? before.port });
        throw error;
      }
      return portOf(server);
    },
    close: () => {
      isClosed = true;
      stop();
      waiting.cut();
    },
  };
}

function portOf(server: Server | null): number | null {
  const address = server?.address() ?? null;
  return typeof address === "object" && address !== null ? address.port : null;
}

function listenError(error: unknown, { host, port }: DoorAddress): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const problem = listenProblems[code];
  if (problem === undefined) return error;
  return new UserError("door_address", `the door can't listen at ${host}:${port}: ${problem}`, {
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
