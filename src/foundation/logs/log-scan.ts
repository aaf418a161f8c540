import type { LogFilter, LogLine, LogPageQuery } from "./log-query.ts";
import type { LogFile } from "./log-files.ts";
import { timeIn, toLogLine } from "./log-lines.ts";
import type { RawLine } from "./read-lines.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { plainText } from "../contracts/plain-text.ts";

/** The filter that passes all lines. */
export const everything: LogFilter = { level: 0, text: "" };

/** Selects the lines of a scan, and ends it after `lines` of them, or `maxBytes` of others. */
export function createLogScan(
  { instanceId, filter, lines }: Pick<LogPageQuery, "instanceId" | "filter" | "lines">,
  maxBytes = Infinity,
) {
  const { mayMatch, matches } = logMatcher(filter);
  let bytes = 0;
  let isRunFound = false;
  let daysWithout = 0;
  let last: { readonly raw: RawLine; readonly file: LogFile } | null = null;
  return {
    /** Whether some lines, given as one text, may hold one that is wanted; of a run, any of its lines. */
    mayMatch: (text: string): boolean =>
      instanceId === null ? mayMatch(text) : text.includes(instanceId),
    /** The line if it is selected, else null. */
    look: (raw: RawLine, file: LogFile): LogLine | null => {
      if (file.name !== last?.file.name) daysWithout += 1;
      last = { raw, file };
      // A run is searched at any age: most lines of other runs need one comparison.
      if (instanceId === null || isRunFound) bytes += raw.end - raw.start;
      if (instanceId === null && !mayMatch(raw.text)) return null;
      const line = toLogLine(raw, file, instanceId);
      if (line === null) return null;
      isRunFound = true;
      daysWithout = 0;
      return matches(line.entry) ? line : null;
    },
    /** Whether the scan reached its limit of bytes or lines. */
    isOver: (found: number): boolean => found >= lines || bytes >= maxBytes,
    /** Logs are read from the newest day back: after lines of a run were found, a day without any is before its start. */
    isBeforeRun: (file: LogFile): boolean =>
      instanceId !== null && isRunFound && daysWithout > 0 && file.name !== last?.file.name,
    /** Time of the last line that was looked at, epoch ms; null before the first. */
    reachedAt: (): number | null => last && timeIn(last.raw.text, last.file),
  };
}

export type LogScan = ReturnType<typeof createLogScan>;

/** Fields shared by all lines of an agent or of a run: a filter by them would match everything. */
const commonFields: ReadonlySet<string> = new Set(["level", "time", "agent", "instanceId", "kind"]);

/** Deeper values are not searched: a line of brackets must not overflow the stack. */
const maxDepth = 32;

/** Escapes of characters that text is shown without, or whose lower case is ASCII: they may stand inside of a match. */
const hidingEscape = /\\u(?:00[0189]|007f|0130|212a)/;

/** Lines of a level and above, and those of another format, which are warnings. */
function levelLines(level: number): RegExp {
  return new RegExp(`^(?:\\{"level":[${Math.floor(level / 10)}-9]\\d|(?!\\{"level":\\d\\d).)`, "m");
}

export function logMatcher({ level, text }: LogFilter) {
  const wanted = text.trim().toLowerCase();
  const atLevel = levelLines(level);
  // Log files are ASCII with `\u` escapes, which have no case, and other texts are escaped in them too.
  const isPlain = /^[ !#-[\]-~]*$/.test(wanted);
  return {
    /** Whether a line, or one of several, as they are written may match: most lines need no more than this. */
    mayMatch: (lines: string): boolean => {
      const isOther = wanted !== "" && isPlain && !lines.toLowerCase().includes(wanted);
      if (isOther && !hidingEscape.test(lines)) return false;
      return level <= 10 || atLevel.test(lines);
    },
    matches: (entry: LogEntry): boolean =>
      entry.level >= level &&
      (wanted === "" || textsOf(entry).some((part) => part.toLowerCase().includes(wanted))),
  };
}

/** The texts that a line has for its readers, without terminal codes. */
function textsOf(entry: LogEntry): string[] {
  const fields = Object.entries(entry).filter(([name]) => !commonFields.has(name));
  return fields.flatMap(([name, value]) => [
    ...leaves(value, maxDepth).map((leaf) => plainText(leaf)),
    // A tool's input is shown as JSON.
    ...(name === "input" && typeof value === "object" ? [JSON.stringify(value)] : []),
  ]);
}

/** The texts and numbers in a value. Deeper ones are left out: a line of brackets must not overflow the stack. */
export function leaves(value: unknown, maxDepth: number): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null || maxDepth < 0) return [];
  return Object.values(value).flatMap((inner) => leaves(inner, maxDepth - 1));
}
