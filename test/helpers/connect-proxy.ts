import { createServer } from "node:http";
import { connect } from "node:net";
import { endServer, listen } from "./listen.ts";

/** A proxy that opens each tunnel to one port of this machine, whatever host is asked for. */
export async function connectProxy(port: number) {
  const hosts: string[] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on("connect", ({ url = "" }, socket, head: Buffer) => {
    hosts.push(url);
    const upstream = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      upstream.write(head);
      socket.pipe(upstream).pipe(socket);
    });
    for (const side of [socket, upstream]) {
      side.on("error", () => side.destroy());
      side.on("close", () => (side === socket ? upstream : socket).destroy());
    }
  });
  const own = await listen(server);
  return { url: `http://127.0.0.1:${own}`, hosts, close: () => endServer(server) };
}
