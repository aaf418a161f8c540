import type { Socket } from "node:net";

/** Passes bytes both ways between two connected sockets, and ends them together. */
export function joinSockets(one: Socket, other: Socket): void {
  endTogether(one, other);
  one.pipe(other).pipe(one);
}

/**
 * Ends two sockets together, also if one has closed already. Each may be half open: one that only ended still gets the
 * data of the other, and a broken one breaks the other.
 */
export function endTogether(one: Socket, other: Socket): void {
  endWith(one, other);
  endWith(other, one);
}

/** `side` must read everything that arrived before it closes; before that, it is broken. */
function endWith(side: Socket, other: Socket): void {
  const end = (): void => {
    // Data from before the end is still delivered.
    if (side.readableEnded) other.destroySoon();
    else other.destroy();
  };
  side.on("error", () => side.destroy());
  if (side.closed) end();
  else side.once("close", end);
}

/** Resolves once the socket is closed. */
export function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
}
