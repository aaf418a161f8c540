import { rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A socket that leads to the machine's engine: an engine that can go away without taking others' containers. */
export interface EngineProxy {
  /** For DOCKER_HOST. */
  readonly host: string;
  open(): Promise<void>;
  connections(): number;
  /** Ends every connection, and takes new ones. */
  cut(): void;
  /** Ends every connection and removes the socket. */
  close(): Promise<void>;
}

export function engineProxy(path: string, engineAddress: string): EngineProxy {
  const socketPath = engineAddress.replace(/^unix:\/\//, "");
  const sockets = new Set<Socket>();
  let server: Server | null = null;
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  };
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: `unix://${path}`,
    open: () => {
      server = createServer({ allowHalfOpen: true }, (near) => {
        const far = connect({ path: socketPath, allowHalfOpen: true });
        for (const socket of [near, far]) track(socket);
        near.pipe(far).on("close", () => near.destroy());
        far.pipe(near).on("close", () => far.destroy());
      });
      return new Promise((resolve) => server?.listen(path, resolve));
    },
    // Two sockets each.
    connections: () => sockets.size / 2,
    cut,
    close: async () => {
      server?.close();
      server = null;
      cut();
      await rm(path, { force: true });
    },
  };
}
