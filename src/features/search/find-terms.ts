import type { Term } from "./terms.ts";
import { tokensOf } from "./tokens.ts";
import type { Token } from "./tokens.ts";

export type Range = [number, number];

/** Where a text has the terms, in order and merged where they overlap; null when it lacks one of them. */
export function findAll(text: string, terms: readonly Term[]): Range[] | null {
  const tokens = tokensOf(text);
  const found = terms.map((term) => findTerm(tokens, term));
  return found.some((ranges) => ranges.length === 0) ? null : merged(found.flat());
}

function findTerm(tokens: readonly Token[], { words, isPrefix }: Term): Range[] {
  const ranges: Range[] = [];
  const last = words.length - 1;
  for (const [i, first] of tokens.entries()) {
    const end = tokens[i + last];
    if (end === undefined) break;
    const isHere = words.every((word, k) => {
      const text = tokens[i + k]?.text ?? "";
      return isPrefix && k === last ? text.startsWith(word) : text === word;
    });
    if (isHere) ranges.push([first.from, end.to]);
  }
  return ranges;
}

function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = result.at(-1);
    if (before && from <= before[1]) before[1] = Math.max(before[1], to);
    else result.push([from, to]);
  }
  return result;
}
