import type { Socket } from "node:net";

/** Of a tunnel without a byte in either direction, in ms; a peer that is gone is noticed before, by keep-alive. */
const idleMs = 60 * 60_000;
/** Of one that has ended in one direction: the end of a process looks the same. */
const halfOpenIdleMs = 2 * 60_000;

/** The two ends of a tunnel close together. Resolves when both are closed; what one sent before still reaches the other. */
export async function linkSockets(client: Socket, upstream: Socket): Promise<void> {
  client.setTimeout(idleMs, () => client.destroy());
  await Promise.all([closeOf(client, upstream), closeOf(upstream, client)]);
}

function closeOf(socket: Socket, other: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      if (socket.readableEnded) other.destroySoon();
      else other.destroy();
      resolve();
    };
    socket.once("end", () => socket.setTimeout(halfOpenIdleMs, () => socket.destroy()));
    if (socket.closed) end();
    else socket.once("close", end);
  });
}
