import { rm, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { listLogFiles, logsDir, utcDate, parseLogFileName, type LogFile } from "./log-files.ts";
import type { Stats } from "node:fs";
import { ifMissing } from "../errors.ts";
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

/** The position that an id names; null for an invalid id, a deleted file, or the middle of a line. */
export async function findPosition(dir: string, id: string | null): Promise<LogPosition | null> {
  const [, name, digits] = /^([^:/]{1,100}):(\d{1,15})$/.exec(id ?? "") ?? [];
  const file = parseLogFileName(name ?? "");
  if (file === null) return null;
  const offset = Number(digits);
  return (await isLineStart(join(dir, file.name), offset)) ? { file, offset } : null;
}

/** The size of a file in bytes; null if it is missing. */
export async function fileSize(path: string): Promise<number | null> {
  return (await statOf(path))?.size ?? null;
}

/** The file's status; null if it is missing. */
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

/** How long and how many log files are stored. */
interface LogRetention {
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** Maximum size of all log files together. */
  readonly maxBytes: number;
}

/** The remaining and the deleted files. */
interface PrunedLogs {
  readonly deleted: readonly string[];
  readonly bytes: number;
}

const dayMs = 86_400_000;

/** Deletes log files older than `days`, then the oldest beyond `maxBytes`; never one of today, which is written. */
export async function pruneLogs(projectDir: string, retention: LogRetention): Promise<PrunedLogs> {
  const { now, days, maxBytes } = retention;
  const dir = logsDir(projectDir);
  const files: { name: string; date: string; size: number }[] = [];
  for (const { name, date } of await listLogFiles(dir, null)) {
    const size = await fileSize(join(dir, name));
    if (size !== null) files.push({ name, date, size });
  }
  const today = utcDate(now);
  const firstKept = utcDate(now - days * dayMs);
  let bytes = files.reduce((sum, file) => sum + file.size, 0);
  const deleted: string[] = [];
  for (const file of files) {
    if (file.date >= today || (file.date >= firstKept && bytes <= maxBytes)) continue;
    await rm(join(dir, file.name), { force: true });
    deleted.push(file.name);
    bytes -= file.size;
  }
  return { deleted, bytes };
}
