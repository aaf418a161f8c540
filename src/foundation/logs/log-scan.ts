import { logMatcher } from "../contracts/log-filter.ts";
import type { LogLine, LogPageQuery } from "../contracts/log-source.ts";
import type { LogFile } from "./log-files.ts";
import { timeIn, toLogLine } from "./log-lines.ts";
import type { RawLine } from "./read-lines.ts";

/** A look through lines that knows when it has seen enough. */
export interface LogScan {
  /** The line when it is wanted, else null. */
  look(raw: RawLine, file: LogFile): LogLine | null;
  /** Whether it has read as much as it may, or found as much as was asked for. */
  isOver(found: number): boolean;
  /** A run's lines lie together: once they were found, a day without any is before its start. */
  isBeforeRun(file: LogFile): boolean;
  /** Time of the last line that was looked at, epoch ms; null before the first. */
  readonly reachedAt: () => number | null;
}

export function createLogScan(query: LogPageQuery, maxBytes: number): LogScan {
  const { instanceId, filter, lines } = query;
  const { mayMatch, matches } = logMatcher(filter);
  let bytes = 0;
  let isRunFound = false;
  let daysWithout = 0;
  let last: { readonly raw: RawLine; readonly file: LogFile } | null = null;
  return {
    look: (raw, file) => {
      if (file.name !== last?.file.name) daysWithout += 1;
      last = { raw, file };
      // A run is looked for however far back it lies: most lines of other runs need one comparison.
      if (instanceId === null || isRunFound) bytes += raw.end - raw.start;
      if (instanceId === null && !mayMatch(raw.text)) return null;
      const line = toLogLine(raw, file, instanceId);
      if (line === null) return null;
      isRunFound = true;
      daysWithout = 0;
      return matches(line.entry) ? line : null;
    },
    isOver: (found) => found >= lines || bytes >= maxBytes,
    isBeforeRun: (file) =>
      instanceId !== null && isRunFound && daysWithout > 0 && file.name !== last?.file.name,
    reachedAt: () => last && timeIn(last.raw.text, last.file),
  };
}
