import { fstatSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing, messageOf } from "../errors.ts";
import { statOf } from "./log-position.ts";

/** A file after an append. */
export interface AppendedFile {
  readonly inode: number;
  readonly size: number;
}

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

interface Open {
  readonly handle: FileHandle;
  readonly inode: number;
  checkedAt: number;
  usedAt: number;
  busy: boolean;
}

/** A file that was deleted or moved away is noticed after this many ms. */
const checkEveryMs = 1_000;

/**
 * Keeps the most recently used `capacity` files open, each until it was not written to for `idleMs`: however many
 * agents there are, quiet ones hold no file open. Each path is appended to by one caller at a time.
 */
export function createLogHandles(capacity: number, idleMs = 2_000) {
  // A Map keeps the order of insertion: the first is the least recently used.
  const files = new Map<string, Open>();
  let opening = 0;
  let timer: NodeJS.Timeout | undefined;

  const drop = async (path: string): Promise<void> => {
    const file = files.get(path);
    files.delete(path);
    await file?.handle.close();
  };

  const makeRoom = async (): Promise<void> => {
    const idle = [...files].filter(([, file]) => !file.busy).map(([path]) => path);
    const tooMany = Math.max(0, files.size + opening - capacity);
    await Promise.all(idle.slice(0, tooMany).map(drop));
  };

  const closeIdle = (): void => {
    timer = undefined;
    const until = performance.now() - idleMs;
    for (const [path, { busy, usedAt }] of files) {
      // All that was appended is written: a close that fails takes nothing along.
      if (!busy && usedAt <= until) void drop(path).catch(() => undefined);
    }
    if (files.size > 0) closeIdleLater();
  };

  const closeIdleLater = (): void => {
    timer ??= setTimeout(closeIdle, idleMs).unref();
  };

  const fileFor = async (path: string): Promise<Open> => {
    const known = files.get(path);
    if (known) {
      known.busy = true;
      files.delete(path);
      files.set(path, known);
      if (!(await isStale(path, known))) return known;
    }
    await drop(path);
    opening += 1;
    try {
      await makeRoom();
      const file = await openToAppend(path);
      files.set(path, file);
      return file;
    } finally {
      opening -= 1;
    }
  };

  return {
    /** Appends whole lines. Rejects with an AppendError. */
    append: async (path: string, data: Buffer): Promise<AppendedFile> => {
      let file: Open | undefined;
      let written = 0;
      try {
        file = await fileFor(path);
        while (written < data.length) {
          written += (await file.handle.write(data, written)).bytesWritten;
        }
        file.busy = false;
        file.usedAt = performance.now();
        closeIdleLater();
        // At once, before another process can append: a follower takes the end of the file for the end of the data.
        const { ino, size } = fstatSync(file.handle.fd);
        return { inode: ino, size };
      } catch (error) {
        // Opened again the next time, which looks for half a line.
        await drop(path).catch(() => undefined);
        throw new AppendError(path, written, error);
      }
    },
    close: async (): Promise<void> => {
      clearTimeout(timer);
      await Promise.all([...files.keys()].map(drop));
    },
  };
}

async function isStale(path: string, file: Open): Promise<boolean> {
  const now = performance.now();
  if (now - file.checkedAt < checkEveryMs) return false;
  file.checkedAt = now;
  return (await statOf(path))?.ino !== file.inode;
}

async function openToAppend(path: string): Promise<Open> {
  const handle = await open(path, "a+", 0o600).catch(async (error: unknown) => {
    if (!isMissing(error)) throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, "a+", 0o600);
  });
  try {
    const { ino, size } = await handle.stat();
    if (size > 0) await endHalfLine(handle, size);
    const now = performance.now();
    return { handle, inode: ino, checkedAt: now, usedAt: now, busy: true };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** A crash or a full disk may have left half a line: what follows it starts on a line of its own. */
async function endHalfLine(handle: FileHandle, size: number): Promise<void> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer.toString() !== "\n") await handle.write("\n");
}
