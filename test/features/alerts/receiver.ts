import { createServer } from "node:http";
import type { Socket } from "node:net";
import type { Received, Reply } from "./fake-apis.ts";

export interface Receiver {
  /** `http://127.0.0.1:4000` */
  readonly base: string;
  readonly received: readonly Received[];
}

/** A server for one test; `answer` is given each request once it is whole. */
export async function startReceiver(answer: (request: Received) => Reply): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const whole = { method, path, headers, text: Buffer.concat(chunks).toString("utf8") };
      received.push(whole);
      const { status, headers: own = {}, body = "" } = answer(whole);
      response.writeHead(status, own).end(body);
    });
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { port: number };
  return { base: `http://127.0.0.1:${port}`, received };
}
