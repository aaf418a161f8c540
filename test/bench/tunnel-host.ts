import { once } from "node:events";
import { createServer, type TLSSocket } from "node:tls";
import { testCertificate } from "../helpers/certificate.ts";
import { listen } from "../helpers/listen.ts";
import { pause } from "../helpers/pause.ts";
import type { downloadRate } from "./tunnel-client.ts";

/** A host that sends as many bytes over TLS as it is asked for, and leaves the end to its client. Prints its port as JSON. */
const chunk = Buffer.alloc(65_536, "x");

const server = createServer({ ...testCertificate, noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  socket.once("data", (first: Buffer) => {
    void send(socket, JSON.parse(first.toString()) as Parameters<typeof downloadRate>[1]);
  });
});
process.stdout.write(`${JSON.stringify({ port: await listen(server) })}\n`);

async function send(
  socket: TLSSocket,
  { bytes, perSecond }: Parameters<typeof downloadRate>[1],
): Promise<void> {
  const began = performance.now();
  for (let sent = 0; sent < bytes;) {
    const due = perSecond === null ? bytes : ((performance.now() - began) / 1000) * perSecond;
    if (sent >= due) {
      await pause(10, "the network is as slow");
      continue;
    }
    sent += chunk.length;
    if (!socket.write(chunk)) await once(socket, "drain");
  }
}
