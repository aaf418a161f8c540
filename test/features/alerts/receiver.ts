import { createServer } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { Received, Reply } from "./fake-apis.ts";

/** A server for one test; `answer` is given each request once it is whole. */
export async function startReceiver(answer: (request: Received) => Reply | Promise<Reply>) {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const { method = "", url: path = "", headers } = request;
      const whole = { method, path, headers, text: await text(request) };
      received.push(whole);
      const { status, headers: own, body } = await answer(whole);
      response.writeHead(status, own).end(body);
    };
    respond().catch(() => response.destroy());
  });
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  const { port } = server.address() as { port: number };
  /** `http://127.0.0.1:4000` */
  const base = `http://127.0.0.1:${port}`;
  return { base, port, server, received, close };
}
