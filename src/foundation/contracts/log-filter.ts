import type { LogEntry } from "../../../streams/vocabulary.ts";
import { plainText } from "./plain-text.ts";

/** Which lines of a log are shown. */
export interface LogFilter {
  /** pino's number: lines of this level and above. */
  readonly level: number;
  /** Lines with this text, in any case; all lines for "". */
  readonly text: string;
}

/** The check of one filter, made once for many lines. */
export interface LogMatcher {
  /** Whether a line as it is written may match: most lines need no more than this. */
  readonly mayMatch: (line: string) => boolean;
  readonly matches: (entry: LogEntry) => boolean;
}

/** What all lines of an agent, or of a run, have in common: a filter by it would show everything. */
const commonFields: ReadonlySet<string> = new Set(["level", "time", "agent", "instanceId", "kind"]);

/** What an agent nests deeper is not looked through: a line of brackets must not end the stack. */
const maxDepth = 32;

const levelOfLine = /^\{"level":(\d+)/;

export function logMatcher({ level, text }: LogFilter): LogMatcher {
  const wanted = text.trim().toLowerCase();
  // Log files are ASCII with `\u` escapes, which have no case, and other texts are escaped in them too.
  const isPlain = /^[ !#-[\]-~]*$/.test(wanted);
  return {
    mayMatch: (line) => {
      const levelText = levelOfLine.exec(line)?.[1];
      if (levelText !== undefined && Number(levelText) < level) return false;
      return !isPlain || line.toLowerCase().includes(wanted) || line.includes("\\u");
    },
    matches: (entry) =>
      entry.level >= level &&
      (wanted === "" || textsOf(entry).some((part) => part.toLowerCase().includes(wanted))),
  };
}

/** The texts that a line has for its readers, without terminal codes. */
function textsOf(entry: LogEntry): string[] {
  const fields = Object.entries(entry).filter(([name]) => !commonFields.has(name));
  return fields.flatMap(([name, value]) => [
    ...leaves(value).map((leaf) => plainText(leaf)),
    // A tool's input is shown as JSON.
    ...(name === "input" && typeof value === "object" ? [JSON.stringify(value)] : []),
  ]);
}

function leaves(value: unknown, depth = 0): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (typeof value !== "object" || value === null || depth > maxDepth) return [];
  return Object.values(value).flatMap((inner) => leaves(inner, depth + 1));
}
