import type { Socket } from "node:net";

/**
 * Passes bytes both ways between two connected sockets that may be half open. A side that only ended still gets the
 * data of the other; one that breaks ends the other.
 */
export function joinSockets(one: Socket, other: Socket): void {
  endWith(one, other);
  endWith(other, one);
  one.pipe(other).pipe(one);
}

/** `side` has to read all that came before it closes for good; before that, it is broken. */
function endWith(other: Socket, side: Socket): void {
  side.on("error", () => side.destroy());
  side.once("close", () => {
    if (!side.readableEnded || other.writableFinished) other.destroy();
    else other.once("finish", () => other.destroy());
  });
}
