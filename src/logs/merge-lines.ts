import type { LogLine } from "../contracts/log-source.ts";
import { parseLogFileName } from "./log-files.ts";

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
