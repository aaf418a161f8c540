import type { OnReadOpts, Socket } from "node:net";

/** What a tunnel that is idle holds. */
const smallBytes = 8_192;
const largeBytes = 65_536;
/** Large ones that no tunnel uses right now: 2 MiB of all runs together. */
const maxFree = 32;
const free: Uint8Array[] = [];

/**
 * Writes what a socket reads to `client`, out of large buffers that are used again once they are written: those that Node
 * makes for each read keep the garbage collector of the whole scheduler busy for half of a tunnel's time.
 */
export function readsInto(client: Socket): OnReadOpts {
  let isBusy = false;
  return {
    buffer: () =>
      isBusy ? (free.pop() ?? new Uint8Array(largeBytes)) : new Uint8Array(smallBytes),
    callback: (length, buffer) => {
      isBusy = length >= smallBytes;
      return client.write(buffer.subarray(0, length), (error) => {
        // After an error, it may still be part of a write.
        if (!error && buffer.length === largeBytes && free.length < maxFree) free.push(buffer);
      });
    },
  };
}

/** Lets `upstream` answer: what it read by `readsInto`, as well as what it emits. */
export function passBack(upstream: Socket, client: Socket): void {
  client.on("drain", () => upstream.resume());
  upstream.pipe(client);
}
