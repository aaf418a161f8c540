import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "./process-identity.ts";
import { readRunRecord } from "./run-files.ts";

/** What may be kept of runs' logs. */
export interface RunLogRetention {
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** Of all logs together. */
  readonly maxBytes: number;
}

const dayMs = 86_400_000;

/**
 * Deletes logs of runs that nobody wrote to for `days`, then the oldest beyond `maxBytes`; never one of a run that
 * lives. Resolves to the bytes that are left. Only what belongs to this user counts.
 */
export async function pruneRunLogs(
  baseDir: string,
  { now, days, maxBytes }: RunLogRetention,
): Promise<number> {
  const logs = await logsIn(baseDir);
  let bytes = logs.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size, mtimeMs } of logs) {
    if (mtimeMs >= now - days * dayMs && bytes <= maxBytes) break;
    const record = await readRunRecord(path);
    if (record !== null && isAlive(record.process)) continue;
    await rm(path, { force: true });
    bytes -= size;
  }
  return bytes;
}

interface Log {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Oldest first. */
async function logsIn(baseDir: string): Promise<readonly Log[]> {
  const names = await readdir(baseDir).catch(() => []);
  const found: Log[] = [];
  for (const name of names.filter((each) => each.endsWith(".log"))) {
    const path = join(baseDir, name);
    const stat = await lstat(path).catch(() => null);
    if (!stat?.isFile() || stat.uid !== process.getuid?.()) continue;
    found.push({ path, size: stat.size, mtimeMs: stat.mtimeMs });
  }
  return found.sort((a, b) => a.mtimeMs - b.mtimeMs);
}
