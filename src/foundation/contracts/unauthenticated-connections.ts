import type { Server, Socket } from "node:net";

/** The connections of a server that showed no token or key yet. */
export interface UnauthenticatedConnections {
  /** The connection carried a request with a valid token or key. */
  markAuthenticated(connection: Socket): void;
}

/**
 * Keeps at most `max` connections without a valid token or key: the oldest is closed. Every local user can find a socket's
 * path (`/proc/net/unix`), and by holding connections open must not keep its run away; nor may who reaches a port use
 * up what the scheduler needs for its files.
 */
export function limitUnauthenticated(server: Server, max: number): UnauthenticatedConnections {
  // A set keeps the order of arrival.
  const connections = new Set<Socket>();
  server.on("connection", (connection: Socket) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    const [oldest] = connections;
    if (connections.size > max) oldest?.destroy();
  });
  return { markAuthenticated: (connection) => void connections.delete(connection) };
}
