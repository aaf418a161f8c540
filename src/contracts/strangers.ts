import type { Server } from "node:http";
import type { Socket } from "node:net";

/** The connections of a server that showed no token or key yet. */
export interface Strangers {
  /** The connection carries a request that was let in. */
  letIn(connection: Socket): void;
}

/**
 * Keeps at most `max` connections that were not let in: the oldest makes room. Every local user can find a socket's
 * path (`/proc/net/unix`), and by holding connections open must not keep its run away; nor may who reaches a port use
 * up what the scheduler needs for its files.
 */
export function limitStrangers(server: Server, max: number): Strangers {
  // A set keeps the order of arrival.
  const strangers = new Set<Socket>();
  server.on("connection", (connection: Socket) => {
    strangers.add(connection);
    connection.once("close", () => strangers.delete(connection));
    const [oldest] = strangers;
    if (strangers.size > max) oldest?.destroy();
  });
  return { letIn: (connection) => void strangers.delete(connection) };
}
