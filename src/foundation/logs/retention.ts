import { rm } from "node:fs/promises";
import { join } from "node:path";
import { listLogFiles, logsDir, utcDate } from "./log-files.ts";
import { fileSize } from "./log-position.ts";

/** How long and how many log files are stored. */
export interface LogRetention {
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** The most that all log files may have together. */
  readonly maxBytes: number;
}

/** What is left, and what was deleted. */
export interface PrunedLogs {
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
