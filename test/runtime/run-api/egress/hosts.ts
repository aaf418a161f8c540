import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { IncomingMessage, RequestListener, Server as HttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { Server, Socket } from "node:net";
import { dialDirect, type Dial } from "../../../../src/runtime/run-api/egress/dial.ts";
import { certificateFor } from "../../../helpers/git-https-server.ts";
import { listen } from "../../../helpers/listen.ts";

/** Where all servers stand, on their usual ports. */
export const publicAddress = "203.0.113.10";
export const banner = "SSH-2.0-test\r\n";

const certificate = certificateFor(
  `DNS:api.allowed.test,DNS:*.allowed.test,DNS:other.test,IP:${publicAddress}`,
);

/** Echoes what is posted, redirects from one path, and greets otherwise. */
const greeting: RequestListener = (request, response) => {
  if (request.url === "/redirect") {
    response.writeHead(302, { location: "https://other.test/secret" }).end();
  } else if (request.method === "POST") {
    request.pipe(response);
  } else response.end(`hello from ${request.headers.host ?? ""}`);
};

/**
 * The world outside: names, public-looking addresses, and servers that stand at them on loopback, for api.allowed.test,
 * other.test and files.allowed.test.
 */
export async function outsideHosts() {
  const servers: readonly [number, Server][] = [
    [443, createHttpsServer(certificate, (...asked) => serve(...asked))],
    [80, createHttpServer((...asked) => serve(...asked))],
    [22, createTcpServer({ allowHalfOpen: true }, (socket) => greet(socket))],
  ];
  const ports = new Map<number, number>();
  for (const [port, server] of servers) ports.set(port, await listen(server));
  const names = ["api.allowed.test", "files.allowed.test", "other.test"];
  const hosts = {
    /** PEM of the certificate that clients have to trust. */
    ca: certificate.cert,
    /** The addresses of each name, to be changed by a test. */
    names: new Map<string, readonly string[]>(names.map((name) => [name, [publicAddress]])),
    /** The names that were looked up, in order. */
    lookups: [] as string[],
    /** Where connections were begun to, as `address:port`. */
    dialled: [] as string[],
    /** The requests that reached the servers. */
    seen: [] as IncomingMessage[],
    /** Connections to the plain TCP server at 203.0.113.10:22. */
    ssh: [] as Socket[],
    /** How HTTP is answered, to be changed by a test. */
    answer: greeting,
    resolve: (host: string): Promise<readonly string[]> => {
      hosts.lookups.push(host);
      const addresses = hosts.names.get(host);
      return addresses === undefined
        ? Promise.reject(new Error(`no ${host}`))
        : Promise.resolve(addresses);
    },
    dial: (...[address, port, onread]: Parameters<Dial>) => {
      hosts.dialled.push(`${address}:${port}`);
      // Nothing listens on port 1.
      const local = address === publicAddress ? (ports.get(port) ?? 1) : 1;
      return dialDirect("127.0.0.1", local, onread);
    },
    close: async () => {
      for (const socket of hosts.ssh) socket.destroy();
      for (const [, server] of servers) {
        (server as Partial<HttpServer>).closeAllConnections?.();
        server.close();
        await once(server, "close");
      }
    },
  };
  const serve: RequestListener = (request, response) => {
    hosts.seen.push(request);
    hosts.answer(request, response);
  };
  const greet = (socket: Socket) => {
    hosts.ssh.push(socket.on("error", () => undefined));
    socket.write(banner);
  };
  return hosts;
}

export type OutsideHosts = Awaited<ReturnType<typeof outsideHosts>>;
