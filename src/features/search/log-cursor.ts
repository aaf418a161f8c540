import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { ifMissing } from "../../foundation/errors.ts";
import type { LogFile } from "../../foundation/logs/log-files.ts";
import { readForward } from "../../foundation/logs/read-lines.ts";
import type { RawLine } from "../../foundation/logs/read-lines.ts";
import type { IndexedFile } from "./day-writer.ts";
import { contentOf } from "./line-content.ts";
import type { LineContent } from "./line-content.ts";
import { readableSize } from "./readable.ts";

/** Bytes before a place in a log file that tell whether it is still the same file. */
const tailBytes = 64;

/** Null for no file. */
export async function inodeOf(dir: string, name: string): Promise<number | null> {
  return (await stat(join(dir, name)).catch(ifMissing(null)))?.ino ?? null;
}

/** Whether the file still has what is indexed of it. */
export async function isSameFile(
  dir: string,
  { name, inode, indexed, tail }: IndexedFile,
): Promise<boolean> {
  const path = join(dir, name);
  if (readableSize(path) === null) return false;
  await using file = await open(path, "r").catch(ifMissing(null));
  if (file === null) return false;
  const { ino, size } = await file.stat();
  if (ino !== inode || size < indexed) return false;
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(tail.length),
    0,
    tail.length,
    indexed - tail.length,
  );
  return buffer.toString("latin1", 0, bytesRead) === tail;
}

/** The last bytes of a line, newline included; a character for each. */
export function tailOf({ text }: RawLine): string {
  return Buffer.from(`${text}\n`).subarray(-tailBytes).toString("latin1");
}

/** The next line of a log file that is not indexed. */
export interface Head {
  readonly line: RawLine;
  /** Null for a line that has nothing to find. */
  readonly content: LineContent | null;
}

/** Reads the lines of a log file that are not indexed, one after the other. */
export class LogCursor {
  readonly file: LogFile;
  readonly indexed: IndexedFile;
  /** Undefined at the end. */
  head: Head | undefined;
  readonly #lines: AsyncGenerator<RawLine>;
  /** The time of the previous line. */
  #time = 0;

  constructor(dir: string, file: LogFile, indexed: IndexedFile) {
    this.file = file;
    this.indexed = indexed;
    this.#lines = readForward(join(dir, file.name), indexed.indexed);
  }

  async advance(): Promise<void> {
    const next = await this.#lines.next();
    if (next.done) {
      this.head = undefined;
      return;
    }
    const content = contentOf(next.value.text);
    this.#time = Math.max(this.#time, content?.time ?? 0);
    this.head = { line: next.value, content };
  }

  /** Epoch ms; a line without a time has that of the one before. */
  get time(): number {
    return this.#time;
  }

  close(): Promise<unknown> {
    return this.#lines.return(undefined);
  }
}
