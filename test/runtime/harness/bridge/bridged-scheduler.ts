import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { Socket } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBridge } from "../../../../src/runtime/harness/bridge/bridge.ts";

export type Tunnel = (socket: Socket, request: IncomingMessage, head: Buffer) => void;

/** A bridge, and the scheduler that it passes on to, which a test starts and stops. */
export async function bridgedScheduler() {
  const dir = await mkdtemp(join(tmpdir(), "al-bridge-"));
  const runSocket = { socket: join(dir, "run.sock"), token: "the-run-token" };
  let paused = 0;
  const bridge = await openBridge(runSocket, async (waiting) => {
    paused += 1;
    return waiting().finally(() => (paused -= 1));
  });
  const asked: IncomingMessage[] = [];
  const sockets = new Set<Socket>();
  let scheduler: Server | null = null;
  let closing: Promise<void> | null = null;
  const closeBridge = () => (closing ??= Promise.resolve(bridge[Symbol.asyncDispose]()));
  return {
    bridge,
    /** Path of the socket that the scheduler listens at. */
    socket: runSocket.socket,
    /** The requests of the scheduler, in order. */
    asked: asked as readonly IncomingMessage[],
    /** How many connections pause the run's clock. */
    paused: () => paused,
    closeBridge,
    /** Starts a scheduler that answers CONNECT by `tunnel`, and other requests by `listener`. */
    serve: async (tunnel: Tunnel, listener: RequestListener = () => undefined) => {
      scheduler = createServer((incoming, response) => {
        asked.push(incoming);
        listener(incoming, response);
      });
      scheduler.on("connect", (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
        asked.push(incoming);
        socket.on("error", () => undefined);
        tunnel(socket, incoming, head);
      });
      scheduler.on("connection", (socket: Socket) => {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
      });
      scheduler.listen(runSocket.socket);
      await once(scheduler, "listening");
    },
    remove: async () => {
      await closeBridge();
      const closed = scheduler && once(scheduler.close(), "close");
      for (const socket of sockets) socket.destroy();
      await closed;
      await rm(dir, { recursive: true });
    },
  };
}

/** What a program sends that was given the bridge's address. */
export function basic(password: string): string {
  return `Basic ${Buffer.from(`al:${password}`).toString("base64")}`;
}
