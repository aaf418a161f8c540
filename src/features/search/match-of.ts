import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { isoTime } from "../../../streams/iso-times.ts";
import type { SearchMatch } from "./search-report.ts";
import { wholeLines, type RawLine } from "../../foundation/logs/read-lines.ts";
import { contentOf, type LineContent } from "./log-cursor.ts";
import { findAll, type Range, type Term } from "./terms.ts";

/** Most lines, and their neighbours, are shorter. */
const usualBytes = 8 * 1024;
const longestBytes = 64 * 1024;
/** Shown lines before a match, and as many after it. */
const neighbours = 2;
const maxNeighbour = 200;
const maxCharacters = 400;
/** Characters of a cut line before its first match. */
const lead = 120;

/** A line of a log file with its place. */
interface ReadLine {
  readonly line: RawLine;
  readonly content: LineContent;
}

/** A line of a log file as a match; null if the line is gone or was replaced. */
export function matchOf(
  dir: string,
  name: string,
  start: number,
  terms: readonly Term[],
): SearchMatch | null {
  const read = lineAt(dir, name, start);
  const found = read && findAll(read.content.text, terms);
  if (read === null || found === null) return null;
  const { line, content } = read;
  const { before, after, ...excerpt } = excerptOf(content.text, found);
  return {
    position: `${name}:${line.end}`,
    at: isoTime(content.time),
    kind: content.kind,
    isError: content.isError,
    before: [...textsBefore(dir, name, read), ...before].slice(-neighbours),
    ...excerpt,
    after: [...after, ...textsAfter(dir, name, read)].slice(0, neighbours),
  };
}

/** Null if the line is gone: its file was deleted or replaced. */
export function lineAt(dir: string, name: string, start: number): ReadLine | null {
  for (const bytes of [usualBytes, longestBytes]) {
    const [line] = wholeLines(bytesAt(dir, name, start, bytes), start);
    if (line === undefined) continue;
    const content = contentOf(line.text);
    return content && { line, content };
  }
  return null;
}

function textsBefore(dir: string, name: string, { line, content }: ReadLine): string[] {
  const from = Math.max(0, line.start - usualBytes);
  const data = bytesAt(dir, name, from, line.start - from);
  const first = from === 0 ? 0 : data.indexOf("\n") + 1;
  return textsOf(wholeLines(data.subarray(first), from + first), content);
}

function textsAfter(dir: string, name: string, { line, content }: ReadLine): string[] {
  return textsOf(wholeLines(bytesAt(dir, name, line.end, usualBytes), line.end), content);
}

/** The texts of those lines that belong to the same run. */
function textsOf(lines: readonly RawLine[], { instanceId }: LineContent): string[] {
  return lines.flatMap(({ text }) => {
    const content = contentOf(text);
    return content?.instanceId === instanceId ? linesOf(content.text) : [];
  });
}

/** Bytes of a file; fewer at its end, none if it is missing. */
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

/** The line of a text with the first of the ranges, cut to a length for lists, and the lines around it. */
function excerptOf(text: string, ranges: readonly Range[]) {
  const first = ranges[0]?.[0] ?? 0;
  const start = text.lastIndexOf("\n", first - 1) + 1;
  const newline = text.indexOf("\n", first);
  const end = newline === -1 ? text.length : newline;
  const from = end - start <= maxCharacters ? start : Math.max(start, first - lead);
  const to = Math.min(end, from + maxCharacters);
  const head = from > start ? "…" : "";
  const tail = to < end ? "…" : "";
  const shift = head.length - from;
  return {
    before: linesOf(text.slice(0, start)),
    text: head + text.slice(from, to) + tail,
    ranges: ranges
      .filter((range) => range[0] < to && range[1] > from)
      .map((range): Range => [Math.max(range[0], from) + shift, Math.min(range[1], to) + shift]),
    after: linesOf(text.slice(end)),
  };
}

/** The lines of a text that are not empty, each cut. */
function linesOf(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => (line.length > maxNeighbour ? `${line.slice(0, maxNeighbour)}…` : line));
}
