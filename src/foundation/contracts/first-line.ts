import type { Readable } from "node:stream";

const newline = 0x0a;

/**
 * The first line of `input` without its end, as UTF-8; what comes after it stays in the input, which is paused then.
 * Null when the input ends before. Rejects when the line is longer than `maxBytes`.
 */
export function firstLine(input: Readable, maxBytes: number): Promise<string | null> {
  // It may have ended while it was paused: a socket does, and emits that once.
  if (input.readableEnded || input.destroyed) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (outcome: () => void) => {
      input.pause().off("data", take).off("end", ended).off("error", ended);
      outcome();
    };
    const take = (chunk: Buffer) => {
      const end = chunk.indexOf(newline);
      chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
      size += chunk.length;
      if (end !== -1) {
        settle(() => resolve(Buffer.concat(chunks).toString("utf8")));
        if (end + 1 < chunk.length) input.unshift(chunk.subarray(end + 1));
      } else if (size > maxBytes) {
        settle(() => reject(new Error(`more than ${maxBytes} bytes on standard input`)));
      }
    };
    const ended = () => settle(() => resolve(null));
    // A reader before this one may have paused it.
    input.on("data", take).once("end", ended).once("error", ended).resume();
  });
}
