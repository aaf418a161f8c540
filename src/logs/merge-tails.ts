import type { LogLine } from "../contracts/log-source.ts";
import type { LogFile } from "./log-files.ts";
import { mergeLines } from "./merge-lines.ts";

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
