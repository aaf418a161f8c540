import type { LogEntry, LogLevel } from "../../streams/vocabulary.ts";
import { localTime, plain } from "./format.ts";
import type { Colors } from "./output.ts";

const levelNames: Readonly<Record<number, string>> = {
  10: "TRACE",
  20: "DEBUG",
  30: "INFO",
  40: "WARN",
  50: "ERROR",
  60: "FATAL",
};

/** Lines of a tool's output that are shown. */
const shownLines = 10;

export interface LogStyle {
  readonly colors: Colors;
  /** Names the agent in each line, where lines of several are mixed. */
  readonly showAgent: boolean;
  /** Epoch ms; a line of another day shows its date. */
  readonly now: number;
}

/** A log entry for people: `09:04:05 INFO  hello  text`, further lines of the text indented. */
export function formatLog(entry: LogEntry, { colors, showAgent, now }: LogStyle): string {
  const name = (levelNames[entry.level] ?? String(entry.level)).padEnd(5);
  const agent = showAgent ? [colors.cyan(plain(entry.agent))] : [];
  const output = outputOf(entry).map((line) => `\n    ${colors.dim(line)}`);
  const text = plain(entry.msg).trimEnd().replaceAll("\n", "\n    ") + output.join("");
  return [
    colors.dim(localTime(entry.time, now)),
    levelColor(entry.level, colors)(name),
    ...agent,
    text,
  ].join(" ");
}

/** What a tool gave back, shortened: the log file and `--json` have the rest. */
function outputOf({ kind, output }: LogEntry): string[] {
  if (kind !== "tool-result" || typeof output !== "string") return [];
  const lines = plain(output).trimEnd().split("\n");
  if (lines.join("") === "") return [];
  const more = lines.length - shownLines;
  return more > 0 ? [...lines.slice(0, shownLines), `… ${more} more lines`] : lines;
}

function levelColor(level: LogLevel, colors: Colors): (text: string) => string {
  if (level >= 50) return colors.red;
  if (level >= 40) return colors.yellow;
  return level >= 30 ? colors.green : colors.dim;
}
