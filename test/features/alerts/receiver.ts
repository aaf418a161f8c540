import { createServer } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { Received, Reply } from "./fake-apis.ts";
import { listen } from "../../helpers/listen.ts";

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
  const port = await listen(server);
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  /** `http://127.0.0.1:4000` */
  const base = `http://127.0.0.1:${port}`;
  return { base, port, server, received, close };
}
