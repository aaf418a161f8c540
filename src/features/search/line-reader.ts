import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { wholeLines } from "../../foundation/logs/read-lines.ts";
import type { RawLine } from "../../foundation/logs/read-lines.ts";
import { contentOf } from "./line-content.ts";
import type { LineContent } from "./line-content.ts";
import { linesOf, neighbours } from "./excerpt.ts";

/** Holds most lines, and those around them. */
const usualBytes = 8 * 1024;
const longestBytes = 64 * 1024;

/** A line of a log file with its place. */
export interface ReadLine {
  readonly line: RawLine;
  readonly content: LineContent;
}

/** Null when there is no such line any more: its file was deleted, or is another one. */
export function lineAt(dir: string, name: string, start: number): ReadLine | null {
  for (const bytes of [usualBytes, longestBytes]) {
    const [line] = wholeLines(bytesAt(dir, name, start, bytes), start);
    if (line === undefined) continue;
    const content = contentOf(line.text);
    return content && { line, content };
  }
  return null;
}

/** Texts of the lines of the same run that are near before a line, oldest first. */
export function textsBefore(dir: string, name: string, { line, content }: ReadLine): string[] {
  const from = Math.max(0, line.start - usualBytes);
  const data = bytesAt(dir, name, from, line.start - from);
  const first = from === 0 ? 0 : data.indexOf("\n") + 1;
  return textsOf(wholeLines(data.subarray(first), from + first), content).slice(-neighbours);
}

/** Texts of the lines of the same run that are near after a line. */
export function textsAfter(dir: string, name: string, { line, content }: ReadLine): string[] {
  const data = bytesAt(dir, name, line.end, usualBytes);
  return textsOf(wholeLines(data, line.end), content).slice(0, neighbours);
}

function textsOf(lines: readonly RawLine[], { instanceId }: LineContent): string[] {
  return lines.flatMap(({ text }) => {
    const content = contentOf(text);
    return content?.instanceId === instanceId ? linesOf(content.text) : [];
  });
}

/** Fewer bytes at the end of the file, and none without it. */
function bytesAt(dir: string, name: string, start: number, bytes: number): Buffer {
  let file: number;
  try {
    file = openSync(join(dir, name), "r");
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const data = Buffer.alloc(bytes);
    return data.subarray(0, readSync(file, data, 0, bytes, start));
  } finally {
    closeSync(file);
  }
}
