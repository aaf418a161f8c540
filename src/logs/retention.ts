import { rm } from "node:fs/promises";
import { join } from "node:path";
import { listLogFiles, logsDir, utcDate } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";
import { fileSize } from "./log-position.ts";

/** How long and how many log files are stored. */
export interface LogRetention {
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** Of all log files together. */
  readonly maxBytes: number;
}

/** What is left, and what was deleted. */
export interface PrunedLogs {
  readonly deleted: readonly string[];
  readonly bytes: number;
}

interface SizedFile extends LogFile {
  readonly size: number;
}

const dayMs = 86_400_000;

/** Deletes log files older than `days`, then the oldest beyond `maxBytes`; never one of today, which is written. */
export async function pruneLogs(projectDir: string, retention: LogRetention): Promise<PrunedLogs> {
  const { now, days, maxBytes } = retention;
  const dir = logsDir(projectDir);
  const files = await sized(dir, await listLogFiles(dir, null));
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

async function sized(dir: string, files: readonly LogFile[]): Promise<SizedFile[]> {
  const found: SizedFile[] = [];
  for (const file of files) {
    const size = await fileSize(join(dir, file.name));
    if (size !== null) found.push({ ...file, size });
  }
  return found;
}
