import type { LogEntry, LogLevel } from "../../streams/vocabulary.ts";
import { maxLineBytes } from "./format-line.ts";
import type { LogFile } from "./log-files.ts";

const levels: readonly unknown[] = [10, 20, 30, 40, 50, 60] satisfies LogLevel[];

/** The entry of a line; one that is none, such as half a line left by a crash, is shown as what it is. */
export function parseLine(text: string, file: LogFile): LogEntry {
  try {
    const value: unknown = JSON.parse(text);
    if (isEntry(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  // What is longer than any line of ours would fill its readers' connections.
  const msg = `broken line: ${text.slice(0, maxLineBytes)}`;
  return { level: 40, time: timeIn(text, file), agent: file.agent, msg };
}

function isEntry(value: unknown): value is LogEntry {
  if (typeof value !== "object" || value === null) return false;
  const { level, time, msg, agent, instanceId = "" } = value as Readonly<Record<string, unknown>>;
  const texts = [msg, agent, instanceId].every((text) => typeof text === "string");
  return texts && isTime(time) && levels.includes(level);
}

/** Other numbers are no date, and whoever writes them as one would fail. */
function isTime(time: unknown): boolean {
  return typeof time === "number" && !Number.isNaN(new Date(time).getTime());
}

/** The best that can be told of a broken line's time: its own when that is whole, else its day's start; a file may have any digits for a day. */
function timeIn(text: string, file: LogFile): number {
  const [, digits] = /"time":(\d{1,15})\b/.exec(text) ?? [];
  return digits === undefined ? Date.parse(file.date) || 0 : Number(digits);
}
