import type { Stats } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { ifMissing } from "../errors.ts";
import { parseLogFileName } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";
import { readBackward } from "./read-lines.ts";

/** A place between two lines of a log file. */
export interface LogPosition {
  readonly file: LogFile;
  readonly offset: number;
}

/** The position as readers know it, `<file name>:<byte offset>`. */
export function positionId(name: string, offset: number): string {
  return `${name}:${offset}`;
}

/** The position that an id names; null for text that is no id, a file that is gone, or the middle of a line. */
export async function findPosition(dir: string, id: string | null): Promise<LogPosition | null> {
  const [, name, digits] = /^([^:/]{1,100}):(\d{1,15})$/.exec(id ?? "") ?? [];
  const file = parseLogFileName(name ?? "");
  if (file === null) return null;
  const offset = Number(digits);
  return (await isLineStart(join(dir, file.name), offset)) ? { file, offset } : null;
}

/** The size of a file in bytes, null when there is none. */
export async function fileSize(path: string): Promise<number | null> {
  return (await statOf(path))?.size ?? null;
}

/** When a file was written last, epoch ms; null when there is none. */
export async function lastWrite(path: string): Promise<number | null> {
  return (await statOf(path))?.mtimeMs ?? null;
}

/** What the system knows of a file, null when there is none. */
export function statOf(path: string): Promise<Stats | null> {
  return stat(path).catch(ifMissing(null));
}

/** Where the last whole line of a file ends. */
export async function lastLineEnd(path: string): Promise<number> {
  const size = await fileSize(path);
  if (size === null || size === 0) return 0;
  for await (const line of readBackward(path, size)) return line.end;
  return 0;
}

async function isLineStart(path: string, offset: number): Promise<boolean> {
  const size = await fileSize(path);
  if (size === null || offset > size) return false;
  if (offset === 0) return true;
  await using file = await open(path, "r");
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, offset - 1);
  return buffer.toString() === "\n";
}
