import type { Range } from "./find-terms.ts";

/** A line of a text, with those around it. */
export interface Excerpt {
  readonly before: readonly string[];
  readonly text: string;
  /** What matches in `text`. */
  readonly ranges: Range[];
  readonly after: readonly string[];
}

/** Lines before, and as many after. */
export const neighbours = 2;
const maxCharacters = 400;
/** Characters of a cut line before its first match. */
const lead = 120;
const maxNeighbour = 200;

/** The line of a text that has the first of the ranges, cut to what can be read in a list. */
export function excerptOf(text: string, ranges: readonly Range[]): Excerpt {
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
    before: linesOf(text.slice(0, start)).slice(-neighbours),
    text: head + text.slice(from, to) + tail,
    ranges: ranges
      .filter((range) => range[0] < to && range[1] > from)
      .map((range): Range => [Math.max(range[0], from) + shift, Math.min(range[1], to) + shift]),
    after: linesOf(text.slice(end)).slice(0, neighbours),
  };
}

/** The lines of a text that are not empty, each cut. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => (line.length > maxNeighbour ? `${line.slice(0, maxNeighbour)}…` : line));
}
