import type { SearchMatch } from "../../foundation/contracts/search.ts";
import { excerptOf, neighbours } from "./excerpt.ts";
import { findAll } from "./find-terms.ts";
import { lineAt, textsAfter, textsBefore } from "./line-reader.ts";
import type { Term } from "./terms.ts";

/** How many matches of a run a list shows. */
export const maxMatches = 3;

/** A line of a log file as a match; null when it is not there any more, or is another one. */
export function matchOf(
  dir: string,
  name: string,
  start: number,
  terms: readonly Term[],
): SearchMatch | null {
  const read = lineAt(dir, name, start);
  const found = read && findAll(read.content.text, terms);
  if (read === null || found === null) return null;
  const { time, kind, isError, text: whole } = read.content;
  const { before, text, ranges, after } = excerptOf(whole, found);
  return {
    position: `${name}:${read.line.end}`,
    at: new Date(time).toISOString(),
    kind,
    isError,
    before: [...textsBefore(dir, name, read), ...before].slice(-neighbours),
    text,
    ranges,
    after: [...after, ...textsAfter(dir, name, read)].slice(0, neighbours),
  };
}
