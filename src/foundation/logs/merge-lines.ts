import type { LogLine } from "../contracts/log-source.ts";
import { parseLogFileName } from "./log-files.ts";
import type { LogFile } from "./log-files.ts";

/** A log file, and when it was written last, epoch ms. */
export interface WrittenFile {
  readonly file: LogFile;
  readonly writtenAt: number;
}

/**
 * The last `wanted` lines of files that are given newest first, merged by time. `tail` gives the last ones of a file;
 * it is asked for no more files than it takes.
 */
export async function mergeTails(
  files: readonly WrittenFile[],
  wanted: number,
  tail: (file: LogFile) => Promise<LogLine[]>,
): Promise<LogLine[]> {
  let found: LogLine[] = [];
  for (const { file, writtenAt } of files) {
    const oldest = found.length < wanted ? undefined : found[0];
    // Nothing in this file, nor in those written before it, is newer than what is there already.
    if (oldest && oldest.entry.time > writtenAt) break;
    found = mergeLines([...(await tail(file)), ...found]).slice(-wanted);
  }
  return found;
}

/** Merges lines by time, and those of one agent stay in their order even where their times do not. */
export function mergeLines(lines: readonly LogLine[]): LogLine[] {
  const latest = new Map<string, number>();
  const keyed = lines.map((line) => {
    const file = line.id.slice(0, line.id.lastIndexOf(":"));
    const agent = parseLogFileName(file)?.agent ?? file;
    const key = Math.max(latest.get(agent) ?? -Infinity, line.entry.time);
    latest.set(agent, key);
    return { line, file, key };
  });
  keyed.sort((a, b) => a.key - b.key || Number(a.file > b.file) - Number(a.file < b.file));
  return keyed.map(({ line }) => line);
}
