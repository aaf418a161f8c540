import { existsSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "./process-identity.ts";
import { readRunRecord } from "./run-files.ts";

/** How long and how many of runs' logs are stored. */
export interface RunLogRetention {
  /** The project of the logs: all projects of a user have them in one folder. */
  readonly projectDir: string;
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** Maximum size of the project's logs together. */
  readonly maxBytes: number;
}

const dayMs = 86_400_000;

/**
 * Deletes logs of a project's runs not written to for `days`, then the oldest beyond `maxBytes`; never one of a live
 * run. Resolves to the remaining bytes. Only logs of this OS user count.
 */
export async function pruneRunLogs(
  baseDir: string,
  { projectDir, now, days, maxBytes }: RunLogRetention,
): Promise<number> {
  const logs = await logsOf(baseDir, projectDir);
  let bytes = logs.reduce((sum, { size }) => sum + size, 0);
  for (const { name, size, mtimeMs } of logs) {
    if (mtimeMs >= now - days * dayMs && bytes <= maxBytes) break;
    const path = join(baseDir, name);
    const record = await readRunRecord(path);
    if (record !== null && isAlive(record.process)) continue;
    await rm(path, { force: true });
    bytes -= size;
  }
  return bytes;
}

interface Log {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/** A project's logs, oldest first. Their records, which hold whole configs, don't stay in memory. */
async function logsOf(baseDir: string, projectDir: string): Promise<readonly Log[]> {
  const names = await readdir(baseDir).catch(() => []);
  const isThere = new Map<string, boolean>();
  /** Only another project itself deletes its logs, unless it is gone; a log without a project belongs to any project. */
  const isOfAnother = (project: string): boolean => {
    if (project === projectDir) return false;
    const known = isThere.get(project) ?? existsSync(project);
    isThere.set(project, known);
    return known;
  };
  const found: Log[] = [];
  for (const name of names.filter((each) => each.endsWith(".log"))) {
    const path = join(baseDir, name);
    const stat = await lstat(path).catch(() => null);
    if (!stat?.isFile() || stat.uid !== process.getuid?.()) continue;
    const record = await readRunRecord(path);
    if (isOfAnother(record?.project ?? projectDir)) continue;
    found.push({ name, size: stat.size, mtimeMs: stat.mtimeMs });
  }
  return found.sort((a, b) => a.mtimeMs - b.mtimeMs);
}
