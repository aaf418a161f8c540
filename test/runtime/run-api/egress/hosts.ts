import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { dialDirect, type Dial } from "../../../../src/runtime/run-api/egress/dial.ts";
import type { Resolve } from "../../../../src/runtime/run-api/egress/resolve.ts";
import { certificateAuthority } from "../../../helpers/certificate-authority.ts";

/** The world outside: names, public-looking addresses, and servers that stand at them on loopback. */
export interface OutsideHosts {
  /** PEM of the authority that their certificates come from. */
  readonly ca: string;
  /** The addresses of each name, to be changed by a test. */
  readonly names: Map<string, readonly string[]>;
  /** The names that were looked up, in order. */
  readonly lookups: string[];
  /** Where connections were begun to, as `address:port`. */
  readonly dialled: string[];
  /** The requests that reached the servers. */
  readonly seen: IncomingMessage[];
  /** Connections to the plain TCP server at 203.0.113.10:22. */
  readonly ssh: Socket[];
  readonly resolve: Resolve;
  readonly dial: Dial;
  close(): Promise<void>;
}

/** Where all servers stand, on their usual ports. */
export const publicAddress = "203.0.113.10";
export const banner = "SSH-2.0-test\r\n";

const authority = certificateAuthority();
const certificate = authority.issue(
  "api.allowed.test",
  "*.allowed.test",
  "other.test",
  `IP:${publicAddress}`,
);
authority.remove();

/** Servers for api.allowed.test, other.test and files.allowed.test. */
export async function outsideHosts(): Promise<OutsideHosts> {
  const names = new Map([
    ["api.allowed.test", [publicAddress]],
    ["files.allowed.test", [publicAddress]],
    ["other.test", [publicAddress]],
  ]);
  const lookups: string[] = [];
  const dialled: string[] = [];
  const seen: IncomingMessage[] = [];
  const ssh: Socket[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request);
    if (request.url === "/redirect") {
      response.writeHead(302, { location: "https://other.test/secret" }).end();
    } else if (request.method === "POST") {
      request.pipe(response);
    } else response.end(`hello from ${request.headers.host ?? ""}`);
  };
  const servers: readonly [number, Server][] = [
    [443, createHttpsServer(certificate, answer)],
    [80, createHttpServer(answer)],
    [
      22,
      createTcpServer({ allowHalfOpen: true }, (socket) => {
        ssh.push(socket);
        socket.on("error", () => undefined);
        socket.write(banner);
      }),
    ],
  ];
  const ports = new Map<number, number>();
  for (const [port, server] of servers) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ports.set(port, (server.address() as AddressInfo).port);
  }
  return {
    ca: authority.cert,
    names,
    lookups,
    dialled,
    seen,
    ssh,
    resolve: (host) => {
      lookups.push(host);
      const addresses = names.get(host);
      return addresses === undefined
        ? Promise.reject(new Error(`no ${host}`))
        : Promise.resolve(addresses);
    },
    dial: (address, port, onread) => {
      dialled.push(`${address}:${port}`);
      // Nothing listens on port 1.
      return dialDirect(
        "127.0.0.1",
        address === publicAddress ? (ports.get(port) ?? 1) : 1,
        onread,
      );
    },
    close: async () => {
      for (const socket of ssh) socket.destroy();
      for (const [, server] of servers) {
        (server as Partial<HttpServer>).closeAllConnections?.();
        server.close();
        await once(server, "close");
      }
    },
  };
}
