import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { testCertificate } from "../helpers/certificate.ts";
import { tunnelHost, type TunnelWay } from "./tunnel-chain.ts";

/** A connection to the host, on which nothing was sent yet. */
export async function openTunnel(way: TunnelWay): Promise<TLSSocket> {
  const socket = connect({
    socket: await way.connect(),
    servername: tunnelHost,
    ca: [testCertificate.cert],
  });
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
  const arrived = arrival(socket, wanted.bytes);
  socket.write(JSON.stringify(wanted));
  const bytes = await arrived;
  socket.destroy();
  return bytes / 1e6 / ((performance.now() - began) / 1000);
}

/** Resolves with the bytes that came once there are so many. */
function arrival(socket: TLSSocket, wanted: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes >= wanted) resolve(bytes);
  });
  socket.once("close", () => reject(new Error(`only ${bytes} bytes came`)));
  return promise;
}
