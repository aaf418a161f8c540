import { once } from "node:events";
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import type { FastifyInstance, FastifyListenOptions } from "fastify";
import { hasCode, Problem } from "../../foundation/errors.ts";
import { operatorApp, tcpApp } from "./app.ts";
import type { GatewayDeps, TcpSettings } from "./deps.ts";
import { bracketed } from "./known-hosts.ts";

/** Resolves when the address is free; rejects with the Problem that listening on it would. */
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

export type Gateway = ReturnType<typeof createGateway>;

/** Makes the HTTP server beside the scheduler; it listens on nothing yet. */
export function createGateway(deps: GatewayDeps) {
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
    /**
     * Listens on TCP, by default with its creation settings; returns the URL for a person, without a path. Rejects with
     * a Problem on failure.
     */
    listenTcp: async (settings: TcpSettings = deps): Promise<string> => {
      // Fastify would silently skip a loopback address in use.
      const host = settings.host === "localhost" ? "127.0.0.1" : settings.host;
      const app = await tcpApp({ ...deps, ...settings });
      const listenOnOther = otherLoopback(app, host);
      await listen(app, { host, port: settings.port }).catch((error: unknown) => {
        throw listenError(error, settings);
      });
      const { port } = app.server.address() as AddressInfo;
      await listenOnOther(port);
      return `http://${publicName(host)}:${port}`;
    },
    /** Serves the operator API on a Unix socket (at most 107 bytes of path) that only this user can open. */
    listenUnix: async (path: string): Promise<void> => {
      const app = await operatorApp(deps);
      removeLeftover(path);
      await listen(app, { path }).catch((error: unknown) => {
        throw new Problem("socket_failed", `can't listen on the socket ${path}`, {
          hint: "A socket's path may have 107 bytes, and its directory must be writable.",
          cause: error,
        });
      });
      chmodSync(path, 0o600);
    },
    /** Ends the streams, lets the other requests finish, and stops listening. */
    close: async (): Promise<void> => {
      await Promise.all([...apps].map(closeApp));
      apps.clear();
    },
  };
}

/**
 * Serves the app on the other loopback address, too: browsers ask both for `localhost`, ::1 first, and another user's
 * program there would get their keys and cookies. A machine without that address is fine.
 */
function otherLoopback(app: FastifyInstance, host: string): (port: number) => Promise<void> {
  const others: Readonly<Record<string, string>> = {
    "127.0.0.1": "::1",
    "0.0.0.0": "::1",
    "::1": "127.0.0.1",
  };
  const other = others[host];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    app.server.emit("connection", socket);
  });
  app.addHook("preClose", (done) => {
    server.close();
    done();
  });
  return async (port) => {
    if (other === undefined) return;
    try {
      server.listen({ host: other, port });
      await once(server, "listening");
    } catch (error) {
      if (hasCode(error, "EADDRNOTAVAIL", "EAFNOSUPPORT")) return;
      await app.close();
      throw listenError(error, { host: other, port });
    }
  };
}

/** How long open connections may take to finish, in ms; `close` would wait a minute for one that never sent a request. */
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
  const hint = "set another one with [gateway].port in config.toml or with --port";
  if (hasCode(error, "EADDRINUSE")) {
    const where = host === "::1" ? " on [::1], which browsers ask first for localhost" : "";
    return new Problem("port_in_use", `port ${port} is in use${where}`, { hint, cause: error });
  }
  if (hasCode(error, "EACCES")) {
    return new Problem("port_forbidden", `port ${port} needs more rights than this user has`, {
      hint,
      cause: error,
    });
  }
  if (hasCode(error, "EADDRNOTAVAIL", "ENOTFOUND", "EINVAL")) {
    return new Problem("unknown_address", `this machine has no address ${host} to listen on`, {
      hint: "set [gateway].host in config.toml or --host to 127.0.0.1, 0.0.0.0 or an address of this machine",
      cause: error,
    });
  }
  return error;
}
