import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { testCertificate } from "./certificate.ts";
import { endServer, listen } from "./listen.ts";

/** As in its address, and as it is. */
export const proxyPassword = { encoded: "proxy%2Dpass", plain: "proxy-pass" } as const;

/**
 * A forward proxy on this machine as companies have them: it asks for a password, and opens TLS with a certificate of
 * its own. Whatever host is asked for, the answer comes from the server at `port`.
 */
export async function forwardProxy(port: number) {
  const seen: string[] = [];
  const note = ({ method = "", url = "", headers }: IncomingMessage) => {
    const [, token = ""] = (headers["proxy-authorization"] ?? "").split(" ");
    seen.push(`${method} ${url} ${Buffer.from(token, "base64").toString("utf8")}`);
  };
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(incoming.url ?? "/", "http://any");
    const { method = "GET", headers } = incoming;
    const options = { host: "127.0.0.1", port, path: pathname, method, headers, agent: false };
    const upstream = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.on("error", () => response.destroy());
    incoming.pipe(upstream);
  };
  const inside = createServer(forward);
  const proxy = createServer((incoming, response) => {
    note(incoming);
    forward(incoming, response);
  });
  proxy.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    note(incoming);
    socket.on("error", () => undefined);
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    const isTls = incoming.url?.endsWith(":443") === true;
    const opened = isTls ? new TLSSocket(socket, { isServer: true, ...testCertificate }) : socket;
    opened.on("error", () => undefined);
    inside.emit("connection", opened);
  });
  const own = await listen(proxy);
  return {
    /** With user and password. */
    url: `http://user:${proxyPassword.encoded}@127.0.0.1:${own}`,
    /** What came, as `CONNECT models.example.test:443` or `GET http://models.example.test/`, with who asked. */
    seen: seen as readonly string[],
    close: async () => {
      await endServer(proxy);
      inside.closeAllConnections();
    },
  };
}
