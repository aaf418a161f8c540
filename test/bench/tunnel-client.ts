import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { testCertificate } from "../helpers/certificate.ts";
import type { Way } from "./ways.ts";

/** The host's name, as its certificate has it. */
export const tunnelHost = "models.example.test";

/** A way to the host, by new connections. */
export type TunnelWay = Way<() => Promise<Socket>>;

export async function connected(port: number): Promise<Socket> {
  const socket = connectTcp({ host: "127.0.0.1", port, noDelay: true });
  await once(socket, "connect");
  return socket;
}

/** A tunnel by a proxy. */
export async function tunnel(proxyUrl: string): Promise<Socket> {
  const { port, username, password } = new URL(proxyUrl);
  const headers = { "proxy-authorization": `Basic ${btoa(`${username}:${password}`)}` };
  const place = { host: "127.0.0.1", port, path: `${tunnelHost}:443` };
  const asked = request({ ...place, method: "CONNECT", headers });
  asked.end();
  const [answer, socket] = (await once(asked, "connect")) as [IncomingMessage, Socket];
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusMessage ?? ""}`);
  return socket;
}

/** A connection to the host, on which nothing was sent yet. */
export async function openTunnel({ at }: TunnelWay): Promise<TLSSocket> {
  const ca = [testCertificate.cert];
  const socket = connect({ socket: await at(), servername: tunnelHost, ca });
  await once(socket, "secureConnect");
  return socket;
}

/** How many MB of a second come by one connection; `perSecond` is what the host sends at most, in bytes. */
export async function downloadRate(
  way: TunnelWay,
  wanted: { readonly bytes: number; readonly perSecond: number | null },
): Promise<number> {
  const socket = await openTunnel(way);
  const began = performance.now();
  socket.write(JSON.stringify(wanted));
  let bytes = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes >= wanted.bytes) break;
  }
  if (bytes < wanted.bytes) throw new Error(`only ${bytes} bytes came`);
  return bytes / 1e6 / ((performance.now() - began) / 1000);
}
