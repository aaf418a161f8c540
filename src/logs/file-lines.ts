import { join } from "node:path";
import type { LogLine } from "../contracts/log-source.ts";
import type { LogFile } from "./log-files.ts";
import { fileSize, positionId } from "./log-position.ts";
import { parseLine } from "./parse-line.ts";
import { readBackward } from "./read-lines.ts";
import type { RawLine } from "./read-lines.ts";

/** More lines than this are not read at once. */
export const maxLines = 10_000;

/** A raw line as readers get it; null when it isn't one of the run that is asked for. */
export function toLogLine(raw: RawLine, file: LogFile, instanceId: string | null): LogLine | null {
  // Most lines of other runs are told by their text, without parsing them.
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
  instanceId: string | null,
  end?: number,
): Promise<LogLine[]> {
  const path = join(dir, file.name);
  const lines: LogLine[] = [];
  for await (const raw of readBackward(path, end ?? (await fileSize(path)) ?? 0)) {
    const line = toLogLine(raw, file, instanceId);
    if (line) lines.push(line);
    if (lines.length >= wanted) break;
  }
  return lines.reverse();
}
