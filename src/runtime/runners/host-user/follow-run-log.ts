import { constants, watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { open } from "node:fs/promises";
import { lineSplitter } from "../../../foundation/contracts/line-splitter.ts";
import { maxTextBytes } from "./run-log.ts";

export interface FollowRunLogOptions {
  readonly onLine: (line: string) => void;
  /** Resolves when the last writer has ended; the file is still read to its end. */
  readonly over: Promise<unknown>;
  /** Aborted when the reader unsubscribes. */
  readonly left: AbortSignal;
}

const chunkBytes = 64 * 1024;
/** Room for the time and the kind of a line. */
const prefixBytes = 64;
/** How often the file is read although the system reported no change, in ms. */
const checkEveryMs = 250;

/** Reads a run's log from its beginning, line by line, until it is over. Rejects when it can't be read. */
export async function followRunLog(path: string, { onLine, over, left }: FollowRunLogOptions) {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const buffer = Buffer.alloc(chunkBytes);
  const lines = lineSplitter(maxTextBytes + prefixBytes, onLine);
  const ended = new AbortController();
  let change = Promise.withResolvers<undefined>();
  const wake = () => change.resolve(undefined);
  const watcher = watched(path, wake);
  const timer = setInterval(wake, checkEveryMs);
  void over.then(() => {
    ended.abort();
    wake();
  });
  left.addEventListener("abort", wake);
  try {
    while (!left.aborted) {
      // Both before the read: what is written or changes during the read is read after it.
      const wasOver = ended.signal.aborted;
      change = Promise.withResolvers();
      const { bytesRead } = await file.read(buffer, 0, chunkBytes);
      if (bytesRead > 0) lines.push(buffer.subarray(0, bytesRead));
      else if (wasOver) break;
      else await change.promise;
    }
    if (!left.aborted) lines.end();
  } finally {
    clearInterval(timer);
    watcher?.close();
    await file.close();
  }
}

/** Without a watcher (the system's are limited) the timer alone does it. */
function watched(path: string, onChange: () => void): FSWatcher | null {
  try {
    return watch(path, onChange).on("error", () => undefined);
  } catch {
    return null;
  }
}
