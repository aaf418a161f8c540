import { fstatSync } from "node:fs";
import type { Stats } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
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

/** More files than this are not remembered. */
const mostKnown = 10_000;

/**
 * Appends whole lines to files, each path by one caller at a time. A file is open only meanwhile: however many agents
 * there are, quiet ones hold no file open, and a file that was moved away is made anew. Rejects with an AppendError.
 */
export function createAppender() {
  /** The inode and the size of files as this process left them, with a whole last line. */
  const whole = new Map<string, string>();
  return async (path: string, data: Buffer) => {
    let written = 0;
    try {
      await using file = await openToAppend(path);
      if (whole.get(path) !== stampOf(fstatSync(file.fd))) await endHalfLine(file);
      while (written < data.length) written += (await file.write(data, written)).bytesWritten;
      if (whole.size > mostKnown) whole.clear();
      // At once, before another process can append: a follower takes the end of the file for the end of the data.
      const stats = fstatSync(file.fd);
      whole.set(path, stampOf(stats));
      return { inode: stats.ino, size: stats.size };
    } catch (error) {
      whole.delete(path);
      throw new AppendError(path, written, error);
    }
  };
}

function stampOf({ ino, size }: Stats): string {
  return `${ino}:${size}`;
}

async function openToAppend(path: string): Promise<FileHandle> {
  return open(path, "a+", 0o600).catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, "a+", 0o600);
  });
}

/** A crash or a full disk may have left half a line: the next write starts a new line. */
async function endHalfLine(file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  if (size === 0) return;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer.toString() !== "\n") await file.write("\n");
}
