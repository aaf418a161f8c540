import { setTimeout as wait } from "node:timers/promises";
import type { RunOutput } from "../run-output.ts";
import { demuxer } from "./frames.ts";

export type LiveOutput = ReturnType<typeof liveOutput>;

/** The output of a container, which may be read again from its beginning when a connection was lost. */
export function liveOutput(output: RunOutput) {
  const stdout = skipping((chunk) => output.stdout.push(chunk));
  const stderr = skipping((chunk) => output.stderr.push(chunk));
  return {
    /** Reads a multiplexed stream. `closed` resolves when nothing more comes of it. */
    read: (source: NodeJS.ReadableStream) => {
      const frames = demuxer({ stdout: stdout.push, stderr: stderr.push });
      let idle = true;
      source.on("data", (chunk: Buffer) => {
        idle = false;
        frames.push(chunk);
      });
      const closed = new Promise<void>((resolve) => {
        // A connection that broke ends here too: the run's end is not decided by its output.
        for (const event of ["end", "close", "error"]) source.once(event, () => resolve());
      });
      const isIdle = () => {
        const was = idle;
        idle = true;
        return was;
      };
      return { closed, isIdle };
    },
    /** The next stream begins with what was read already: it is skipped. */
    again: () => {
      stdout.again();
      stderr.again();
    },
    /** Bytes that were read, each counted once. */
    bytes: () => stdout.bytes() + stderr.bytes(),
  };
}

function skipping(to: (chunk: Buffer) => void) {
  let seen = 0;
  let skip = 0;
  return {
    push: (chunk: Buffer) => {
      const known = Math.min(skip, chunk.length);
      skip -= known;
      seen += chunk.length - known;
      if (known < chunk.length) to(chunk.subarray(known));
    },
    again: () => {
      skip = seen;
    },
    bytes: () => seen,
  };
}

const lateOutputMs = 1000;

/** Waits for the rest of the output of a container that ended, as long as some comes. */
export async function restOf(reading: ReturnType<LiveOutput["read"]>): Promise<void> {
  for (;;) {
    const over = reading.closed.then(() => true);
    if (await Promise.race([over, wait(lateOutputMs, false, { ref: false })])) return;
    if (reading.isIdle()) return;
  }
}
