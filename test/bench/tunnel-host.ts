import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { testCertificate } from "../helpers/certificate.ts";

/** What a client asks for with its first bytes: so many bytes, at most so many in a second. */
interface Wanted {
  readonly bytes: number;
  /** Null for as many as the machine can. */
  readonly perSecond: number | null;
}

/** A host that sends as many bytes over TLS as it is asked for, and leaves the end to its client. Prints its port as JSON. */
const chunk = Buffer.alloc(65_536, "x");
const pauseMs = 10;

const server = createServer({ ...testCertificate, noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  socket.once("data", (first: Buffer) => {
    void send(socket, JSON.parse(first.toString()) as Wanted);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});

async function send(socket: TLSSocket, { bytes, perSecond }: Wanted): Promise<void> {
  const began = performance.now();
  let sent = 0;
  while (sent < bytes) {
    const due = perSecond === null ? bytes : ((performance.now() - began) / 1000) * perSecond;
    if (sent >= due) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      continue;
    }
    sent += chunk.length;
    if (!socket.write(chunk)) await once(socket, "drain");
  }
}
