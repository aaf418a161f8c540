import { existsSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "./process-identity.ts";
import { readRunRecord } from "./run-files.ts";
import type { RunRecord } from "./run-log.ts";

/** How long and how many of runs' logs are stored. */
export interface RunLogRetention {
  /** Whose logs are meant: all projects of a user have them in one folder. */
  readonly projectDir: string;
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** Of the project's logs together. */
  readonly maxBytes: number;
}

const dayMs = 86_400_000;

/**
 * Deletes logs of a project's runs that were not written to for `days`, then the oldest beyond `maxBytes`; never one of a
 * run that lives. Resolves to the bytes that are left. Only what belongs to this user counts.
 */
export async function pruneRunLogs(
  baseDir: string,
  { projectDir, now, days, maxBytes }: RunLogRetention,
): Promise<number> {
  const logs = (await logsIn(baseDir)).filter(({ record }) => !isOfAnother(record, projectDir));
  let bytes = logs.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size, mtimeMs, record } of logs) {
    if (mtimeMs >= now - days * dayMs && bytes <= maxBytes) break;
    if (record !== null && isAlive(record.process)) continue;
    await rm(path, { force: true });
    bytes -= size;
  }
  return bytes;
}

/** A log of another project is that project's to delete, unless the project is gone; one without a project is any project's. */
function isOfAnother(record: RunRecord | null, projectDir: string): boolean {
  const project = record?.project ?? projectDir;
  return project !== projectDir && existsSync(project);
}

interface Log {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly record: RunRecord | null;
}

/** Oldest first. */
async function logsIn(baseDir: string): Promise<readonly Log[]> {
  const names = await readdir(baseDir).catch(() => []);
  const found: Log[] = [];
  for (const name of names.filter((each) => each.endsWith(".log"))) {
    const path = join(baseDir, name);
    const stat = await lstat(path).catch(() => null);
    if (!stat?.isFile() || stat.uid !== process.getuid?.()) continue;
    const record = await readRunRecord(path);
    found.push({ path, size: stat.size, mtimeMs: stat.mtimeMs, record });
  }
  return found.sort((a, b) => a.mtimeMs - b.mtimeMs);
}
