import { once } from "node:events";
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import type { FastifyInstance, FastifyListenOptions } from "fastify";
import { UserError } from "../errors.ts";
import { operatorApp, tcpApp } from "./app.ts";
import type { GatewayDeps, TcpSettings } from "./deps.ts";
import { bracketed } from "./known-hosts.ts";

/** The HTTP server beside the scheduler. */
export interface Gateway {
  /**
   * Listens on TCP, by these settings instead of those that it was made with; the URL that a person opens, without a
   * path. Errors with a UserError when it can't.
   */
  listenTcp(settings?: TcpSettings): Promise<string>;
  /** Serves the operator API on a Unix socket (at most 107 bytes of path) that only this user can open. */
  listenUnix(path: string): Promise<void>;
  /** Ends the streams, lets the other requests finish, and stops listening. */
  close(): Promise<void>;
}

/** Resolves when the address is free; rejects with the UserError that listening on it would. */
export async function checkAddress(where: Pick<TcpSettings, "host" | "port">): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host: where.host, port: where.port });
    await once(server, "listening");
  } catch (error) {
    throw listenError(error, where);
  } finally {
    server.close();
  }
}

/** Makes the gateway; it listens on nothing yet. */
export function createGateway(deps: GatewayDeps): Gateway {
  const apps = new Set<FastifyInstance>();
  const listen = async (app: FastifyInstance, where: FastifyListenOptions): Promise<void> => {
    apps.add(app);
    try {
      await app.listen(where);
    } catch (error) {
      apps.delete(app);
      await app.close();
      throw error;
    }
  };
  return {
    async listenTcp(settings = deps) {
      const { host } = settings;
      const app = await tcpApp({ ...deps, ...settings });
      await listen(app, { host, port: settings.port }).catch((error: unknown) => {
        throw listenError(error, settings);
      });
      const { port } = app.server.address() as AddressInfo;
      return `http://${publicName(host)}:${port}`;
    },
    async listenUnix(path) {
      const app = await operatorApp(deps);
      removeLeftover(path);
      await listen(app, { path }).catch((error: unknown) => {
        throw new UserError("socket_failed", `can't listen on the socket ${path}`, {
          hint: "A socket's path may hold 107 bytes, and its directory must be writable.",
          cause: error,
        });
      });
      chmodSync(path, 0o600);
    },
    async close() {
      await Promise.all([...apps].map(closeApp));
      apps.clear();
    },
  };
}

/** What is still open then, in ms, is cut: a connection that never asked for anything would be waited for a minute. */
const closingMs = 2_000;

async function closeApp(app: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), closingMs);
  await app.close().finally(() => clearTimeout(cut));
}

/** A browser can't open the address that means "all addresses", and people know loopback by its name. */
function publicName(host: string): string {
  const isLocal = ["127.0.0.1", "0.0.0.0", "::", "::1", "localhost"].includes(host);
  return isLocal ? "localhost" : bracketed(host);
}

/** A crash leaves its socket behind. The caller holds the project's lock, so no other scheduler listens on it. */
function removeLeftover(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path);
}

function listenError(error: unknown, { host, port }: Pick<TcpSettings, "host" | "port">): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const hint = "Set another one with [gateway].port in config.toml or with --port.";
  if (code === "EADDRINUSE") {
    return new UserError("port_in_use", `port ${port} is in use`, { hint, cause: error });
  }
  if (code === "EACCES") {
    const message = `port ${port} needs more rights than this user has`;
    return new UserError("port_forbidden", message, { hint, cause: error });
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EINVAL") {
    return new UserError("unknown_address", `this machine has no address ${host} to listen on`, {
      hint: "Set [gateway].host in config.toml or --host to 127.0.0.1, 0.0.0.0 or an address of this machine.",
      cause: error,
    });
  }
  return error;
}
