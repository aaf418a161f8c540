import { join } from "node:path";
import type { SearchMatch, SearchQuery, SearchRun } from "../../foundation/contracts/search.ts";
import type { LogFile } from "../../foundation/logs/log-files.ts";
import { readForward } from "../../foundation/logs/read-lines.ts";
import type { RawLine } from "../../foundation/logs/read-lines.ts";
import { findAll } from "./find-terms.ts";
import { contentOf } from "./line-content.ts";
import type { LineContent } from "./line-content.ts";
import { matchOf, maxMatches } from "./match-of.ts";
import type { RunFactsReader } from "./run-facts.ts";
import { parseTerms } from "./terms.ts";
import type { Term } from "./terms.ts";

/** A part of a log file that is not indexed: from an offset to its end. */
export interface Unindexed {
  readonly file: LogFile;
  readonly from: number;
}

interface Found {
  readonly file: LogFile;
  readonly start: number;
  readonly content: LineContent;
}

/** Looks through log files line by line, as an index would find them; the runs in the order that was asked for. */
export async function scan(
  dir: string,
  parts: readonly Unindexed[],
  query: SearchQuery,
  facts: RunFactsReader,
): Promise<SearchRun[]> {
  const terms = parseTerms(query.q);
  const found: Found[] = [];
  for (const part of parts) found.push(...(await linesIn(dir, part, query, terms)));
  const sign = query.order === "newest" ? -1 : 1;
  found.sort((a, b) => sign * (a.content.time - b.content.time));
  const groups = Map.groupBy(found, ({ file, content }) => content.instanceId ?? file.name);
  return [...groups.values()].flatMap((group) => runOf(dir, group, terms, facts, query) ?? []);
}

async function linesIn(
  dir: string,
  { file, from }: Unindexed,
  query: SearchQuery,
  terms: readonly Term[],
): Promise<Found[]> {
  const found: Found[] = [];
  if (query.agent !== undefined && query.agent !== file.agent) return found;
  const mayMatch = rawFilter(terms);
  for await (const line of readForward(join(dir, file.name), from)) {
    const content = mayMatch(line) ? contentOf(line.text) : null;
    if (content === null || !isAsked(content, query)) continue;
    if (findAll(content.text, terms) !== null) found.push({ file, start: line.start, content });
  }
  return found;
}

/** Most lines lack a word: that is seen in the raw line, where all but ASCII is escaped. */
function rawFilter(terms: readonly Term[]): (line: RawLine) => boolean {
  const words = terms.flatMap((term) => term.words).filter((word) => /^[a-z0-9]+$/.test(word));
  const longest = words.sort((a, b) => b.length - a.length)[0];
  return longest === undefined
    ? () => true
    : ({ text }) => text.includes("\\u") || text.toLowerCase().includes(longest);
}

function isAsked(
  { kind, isError, instanceId, time }: LineContent,
  { kind: wanted, instance, since }: SearchQuery,
): boolean {
  if (instance !== undefined && instance !== instanceId) return false;
  if (since !== undefined && time < Date.parse(since)) return false;
  return wanted === undefined || wanted === kind || (wanted === "error" && isError);
}

function runOf(
  dir: string,
  group: readonly Found[],
  terms: readonly Term[],
  facts: RunFactsReader,
  query: SearchQuery,
): SearchRun | null {
  const [first] = group;
  if (first === undefined) return null;
  const { instanceId } = first.content;
  const { outcome, usd } = facts.of(instanceId);
  if (query.outcome !== undefined && query.outcome !== outcome) return null;
  const matches: SearchMatch[] = group
    .slice(0, maxMatches)
    .flatMap(({ file, start }) => matchOf(dir, file.name, start, terms) ?? []);
  const at = new Date(first.content.time).toISOString();
  const { agent } = first.file;
  return { instanceId, agent, at, outcome, usd, count: group.length, matches };
}
