import { setTimeout as wait } from "node:timers/promises";
import type { RunOutput } from "../run-output.ts";

const headerBytes = 8;
const stderrType = 2;

/**
 * Parses the engine's multiplexed stream: frames of one byte for the stream (1 stdout, 2 stderr), three unused bytes,
 * four for the length (big endian), then the payload (Engine API, "Attach to a container"). Payloads are emitted as they
 * arrive, whole or in parts, without buffering.
 */
export function demuxer(to: {
  readonly stdout: (chunk: Buffer) => void;
  readonly stderr: (chunk: Buffer) => void;
}) {
  const header = Buffer.alloc(headerBytes);
  let have = 0;
  let left = 0;
  return {
    push: (chunk: Buffer): void => {
      let at = 0;
      while (at < chunk.length) {
        if (left === 0) {
          const part = chunk.subarray(at, at + headerBytes - have);
          part.copy(header, have);
          at += part.length;
          have += part.length;
          if (have < headerBytes) return;
          have = 0;
          left = header.readUInt32BE(4);
          continue;
        }
        const payload = chunk.subarray(at, at + left);
        at += payload.length;
        left -= payload.length;
        (header[0] === stderrType ? to.stderr : to.stdout)(payload);
      }
    },
  };
}

export type LiveOutput = ReturnType<typeof liveOutput>;

/** The output of a container, which may be read again from its beginning after a lost connection. */
export function liveOutput(output: RunOutput) {
  const stdout = skipping((chunk) => output.stdout.push(chunk));
  const stderr = skipping((chunk) => output.stderr.push(chunk));
  return {
    /** Reads a multiplexed stream. `closed` resolves when the stream ends or breaks. */
    read: (source: NodeJS.ReadableStream) => {
      const frames = demuxer({ stdout: stdout.push, stderr: stderr.push });
      let idle = true;
      source.on("data", (chunk: Buffer) => {
        idle = false;
        frames.push(chunk);
      });
      const closed = new Promise<void>((resolve) => {
        // A broken connection ends here too: the run's end is not decided by its output.
        for (const event of ["end", "close", "error"]) source.once(event, () => resolve());
      });
      const isIdle = () => {
        const was = idle;
        idle = true;
        return was;
      };
      return { closed, isIdle };
    },
    /** The next stream repeats all output from its beginning: the part already read is skipped. */
    again: () => {
      stdout.again();
      stderr.again();
    },
    /** Number of read bytes, each counted once. */
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

/** Waits for the remaining output of an ended container, as long as more arrives. */
export async function restOf(reading: ReturnType<LiveOutput["read"]>): Promise<void> {
  for (;;) {
    const over = reading.closed.then(() => true);
    if (await Promise.race([over, wait(lateOutputMs, false, { ref: false })])) return;
    if (reading.isIdle()) return;
  }
}
