import { join } from "node:path";
import type { LogEntry, LogLevel } from "../../../streams/vocabulary.ts";
import type { LogLine } from "./log-query.ts";
import { maxLineBytes } from "./line-queue.ts";
import type { LogFile } from "./log-files.ts";
import { fileSize, positionId } from "./log-position.ts";
import { readBackward, type RawLine } from "./read-lines.ts";

/** The most lines of one read. */
export const maxLines = 10_000;

const levels: readonly unknown[] = [10, 20, 30, 40, 50, 60] satisfies LogLevel[];

/** A raw line as readers get it; null when the query asks for another run. */
export function toLogLine(raw: RawLine, file: LogFile, instanceId: string | null): LogLine | null {
  // The text excludes most lines of other runs without parsing.
  if (instanceId !== null && !raw.text.includes(instanceId)) return null;
  const entry = parseLine(raw.text, file);
  if (instanceId !== null && entry.instanceId !== instanceId) return null;
  return { id: positionId(file.name, raw.end), entry };
}

/** The last `wanted` lines of a file that end at `end` or before; without `end`, at its end. */
export async function tailOf(
  dir: string,
  file: LogFile,
  wanted: number,
  end?: number,
): Promise<LogLine[]> {
  const path = join(dir, file.name);
  const lines: LogLine[] = [];
  for await (const raw of readBackward(path, end ?? (await fileSize(path)) ?? 0)) {
    const line = toLogLine(raw, file, null);
    if (line) lines.push(line);
    if (lines.length >= wanted) break;
  }
  return lines.reverse();
}

/** The entry of a line. Invalid text, such as half a line left by a crash, becomes a warning. */
function parseLine(text: string, file: LogFile): LogEntry {
  try {
    const value: unknown = JSON.parse(text);
    if (isEntry(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  // A line longer than the log's limit would fill its readers' connections.
  const msg = `broken line: ${text.slice(0, maxLineBytes)}`;
  return { level: 40, time: timeIn(text, file), agent: file.agent, msg };
}

function isEntry(value: unknown): value is LogEntry {
  if (typeof value !== "object" || value === null) return false;
  const { level, time, msg, agent, instanceId = "" } = value as Readonly<Record<string, unknown>>;
  const texts = [msg, agent, instanceId].every((text) => typeof text === "string");
  return texts && isTime(time) && levels.includes(level);
}

/** Whether a value is a valid time; formatting an invalid date would throw. */
function isTime(time: unknown): boolean {
  return typeof time === "number" && !Number.isNaN(new Date(time).getTime());
}

/** The time of a line's text: its own if complete, else its day's start, else 0: a file name may have any digits for a day. */
export function timeIn(text: string, file: LogFile): number {
  const [, digits] = /"time":(\d{1,15})\b/.exec(text) ?? [];
  return digits === undefined ? Date.parse(file.date) || 0 : Number(digits);
}
