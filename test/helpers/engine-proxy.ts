import { once } from "node:events";
import { rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A socket that leads to the machine's engine: an engine that can go away without taking others' containers. */
export function engineProxy(path: string, engineAddress: string) {
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
    /** For DOCKER_HOST. */
    host: `unix://${path}`,
    open: async (): Promise<void> => {
      server = createServer({ allowHalfOpen: true }, (near) => {
        const far = connect({ path: socketPath, allowHalfOpen: true });
        for (const socket of [near, far]) track(socket);
        near.pipe(far).on("close", () => near.destroy());
        far.pipe(near).on("close", () => far.destroy());
      });
      await once(server.listen(path), "listening");
    },
    // Two sockets each.
    connections: () => sockets.size / 2,
    /** Ends every connection, and takes new ones. */
    cut,
    /** Ends every connection and removes the socket. */
    close: async () => {
      server?.close();
      server = null;
      cut();
      await rm(path, { force: true });
    },
  };
}
