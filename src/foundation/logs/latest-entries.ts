import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { tailOf } from "./log-lines.ts";
import { logsDir, parseLogFileName } from "./log-files.ts";
import { mergeTails } from "./merge-lines.ts";
import type { WrittenFile } from "./merge-lines.ts";

/**
 * The last `count` lines of all agents and the scheduler, oldest first. Files that can't be read are passed over: a
 * scheduler that starts shows the others.
 */
export async function latestEntries(
  projectDir: string,
  count: number,
): Promise<readonly LogEntry[]> {
  const dir = logsDir(projectDir);
  const names = await readdir(dir).catch(() => []);
  const lines = await mergeTails(latestFiles(dir, names, count), count, (file) =>
    tailOf(dir, file, count, null).catch(() => []),
  );
  return lines.map(({ entry }) => entry);
}

/** The `count` files written last, newest first: each holds a line, so no other has one of the last `count`. */
function latestFiles(dir: string, names: readonly string[], count: number): WrittenFile[] {
  const found: WrittenFile[] = [];
  const days = Map.groupBy(names, dayOf);
  // A file is written on its own day only. Of a thousand agents' files all but those of a day or two need no look.
  for (const day of [...days.keys()].sort().reverse()) {
    if (found.length >= count) break;
    const files = (days.get(day) ?? []).flatMap((name) => writtenFile(dir, name) ?? []);
    found.push(...files.sort((a, b) => b.writtenAt - a.writtenAt));
  }
  return found.slice(0, count);
}

/** The date in a log file's name, and anything in another: cheaper than to parse each. */
function dayOf(name: string): string {
  return name.slice(-"YYYY-MM-DD.log".length, -".log".length);
}

/** Null for one without lines, or that is no file: a pipe of that name would keep its reader waiting. */
function writtenFile(dir: string, name: string): WrittenFile | null {
  const file = parseLogFileName(name);
  if (file === null) return null;
  try {
    const found = statSync(join(dir, name));
    return found.isFile() && found.size > 0 ? { file, writtenAt: found.mtimeMs } : null;
  } catch {
    return null;
  }
}
