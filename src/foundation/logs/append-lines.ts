import { closeSync, fstatSync, mkdirSync, openSync, readSync, write, writeSync } from "node:fs";
import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { isMissing, messageOf } from "../errors.ts";

/** A failed append. */
export class AppendError extends Error {
  /** Bytes of the data that were written. */
  readonly written: number;

  constructor(path: string, written: number, cause: unknown) {
    super(`${path}: ${messageOf(cause)}`, { cause });
    this.name = "AppendError";
    this.written = written;
  }
}

const writeTo = promisify(write);

/** Limit of remembered files. */
const mostKnown = 10_000;

/**
 * Appends whole lines to files, each path by one caller at a time. A file is open only meanwhile: quiet agents hold no
 * file open, and a moved file is created again. Only writes wait for the disk, and so for a thread: every delivery
 * brings lines to another file. Rejects with an AppendError.
 */
export function createAppender() {
  /** The inode and the size of files as this process left them, with a whole last line. */
  const whole = new Map<string, string>();
  return async (path: string, data: Buffer) => {
    let written = 0;
    let file: number | null = null;
    try {
      file = openToAppend(path);
      const before = fstatSync(file);
      if (whole.get(path) !== stampOf(before)) endHalfLine(file, before);
      while (written < data.length) written += (await writeTo(file, data, written)).bytesWritten;
      if (whole.size > mostKnown) whole.clear();
      // At once, before another process can append: a follower takes the file's end for the data's end.
      const stats = fstatSync(file);
      whole.set(path, stampOf(stats));
      return { inode: stats.ino, size: stats.size };
    } catch (error) {
      whole.delete(path);
      throw new AppendError(path, written, error);
    } finally {
      if (file !== null) closeSync(file);
    }
  };
}

function stampOf({ ino, size }: Stats): string {
  return `${ino}:${size}`;
}

function openToAppend(path: string): number {
  try {
    return openSync(path, "a+", 0o600);
  } catch (error) {
    if (!isMissing(error)) throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, "a+", 0o600);
  }
}

/** A crash or a full disk may have left half a line: the next write starts a new line. */
function endHalfLine(file: number, { size }: Stats): void {
  if (size === 0) return;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  if (last.toString() !== "\n") writeSync(file, "\n");
}
