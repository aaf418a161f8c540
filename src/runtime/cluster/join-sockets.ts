import type { Socket } from "node:net";

/**
 * Passes bytes both ways between two connected sockets that may be half open. A side that only ended still gets the data
 * of the other; a broken side ends the other.
 */
export function joinSockets(one: Socket, other: Socket): void {
  endWith(one, other);
  endWith(other, one);
  one.pipe(other).pipe(one);
}

/** `side` must read everything that arrived before it closes; before that, it is broken. */
function endWith(other: Socket, side: Socket): void {
  side.on("error", () => side.destroy());
  side.once("close", () => {
    if (!side.readableEnded || other.writableFinished) other.destroy();
    else other.once("finish", () => other.destroy());
  });
}
