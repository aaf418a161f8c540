import type { Outcome } from "../../../../streams/outcomes.ts";
import type { SearchKind } from "../../../features/search/search-kinds.ts";
import type {
  SearchMatch,
  SearchPage,
  SearchQuery,
  SearchRun,
} from "../../../features/search/search-report.ts";
import { dollars } from "../../../features/spend/spend-text.ts";
import { usageError } from "../../../foundation/errors.ts";
import { withFreshIndex } from "../../../features/search/fresh-index.ts";
import { searchLogs, type SearchOptions } from "../../../features/search/search-logs.ts";
import type { Context } from "../context.ts";
import { queryTime } from "../options.ts";
import { mustHaveAccess } from "../operator/connect.ts";
import { localTime, plain, plainLine } from "../terminal/format.ts";
import type { Output } from "../terminal/output.ts";
import { refuseUnknown } from "./log-line.ts";

export interface GrepOptions {
  readonly grep: string;
  readonly follow?: true;
  readonly lines?: number;
  readonly instance?: string;
  /** Epoch ms. */
  readonly since?: number;
  readonly outcome?: Outcome;
  readonly kind?: SearchKind;
  readonly oldest?: true;
}

const usualRuns = 20;
/** Time limit of a search, in ms: a person waits longer than a page does. */
const budgetMs = 2_000;

/** Prints the runs with matching lines, with or without a scheduler. */
export async function grepLogs(
  { out, projectDir }: Context,
  agent: string | null,
  options: GrepOptions,
): Promise<void> {
  if (options.follow) {
    throw usageError("--grep and --follow do not go together", "Leave one of them out.");
  }
  mustHaveAccess(projectDir);
  const query = queryOf(agent, options);
  const page = await withFreshIndex(projectDir, (db) =>
    pageOf({ projectDir, db, budgetMs }, query),
  );
  if (page.runs.length === 0) await refuseUnknown(projectDir, { agent, instanceId: null });
  if (out.json) return out.document(page);
  const print = out.columns === null ? printRows : printRun;
  for (const run of page.runs) print(out, run);
  if (page.runs.length === 0) out.note("no matching lines");
  if (page.next !== null) out.note("there are more: narrow the search, or show more runs with -n");
}

/** Reads pages until there are as many runs as requested: with rare matches a page may be empty. */
function pageOf(options: SearchOptions, query: SearchQuery): SearchPage {
  const page = searchLogs(options, query);
  if (page.next === null || page.runs.length >= query.limit) return page;
  const limit = query.limit - page.runs.length;
  const rest = pageOf(options, { ...query, before: page.next, limit });
  return { ...rest, runs: [...page.runs, ...rest.runs] };
}

function queryOf(agent: string | null, options: GrepOptions): SearchQuery {
  const { grep, lines, instance, since, outcome, kind, oldest } = options;
  return {
    q: grep,
    agent: agent ?? undefined,
    instance,
    outcome,
    kind,
    since: queryTime(since),
    order: oldest ? "oldest" : "newest",
    limit: Math.min(Math.max(lines ?? usualRuns, 1), 1_000),
  };
}

/** One row for each line, for other programs. */
function printRows(out: Output, run: SearchRun): void {
  for (const { at, kind, text } of run.matches) {
    const name = run.instanceId ?? run.agent;
    out.data([localTime(at, 0), name, kind, plainLine(text)].join("  "));
  }
}

function printRun(out: Output, run: SearchRun): void {
  const { colors } = out;
  const { instanceId, agent, outcome, usd, count } = run;
  const parts = [
    colors.cyan(plainLine(instanceId ?? agent)),
    ...(outcome === null ? [] : [outcome.replaceAll("_", " ")]),
    ...(usd === null || usd === 0 ? [] : [dollars(usd)]),
    count === 1 ? "1 line" : `${count} lines`,
  ];
  out.data(parts.join("  "));
  for (const match of run.matches) printMatch(out, match);
}

function printMatch(out: Output, match: SearchMatch): void {
  const { colors } = out;
  const { at, kind, isError, before, after } = match;
  const shownKind = isError ? colors.red(kind) : kind;
  out.data(`  ${colors.dim(localTime(at, Date.now()))} ${shownKind}`);
  for (const line of before) out.data(`    ${colors.dim(plainLine(line))}`);
  out.data(`    ${marked(match, colors.bold)}`);
  for (const line of after) out.data(`    ${colors.dim(plainLine(line))}`);
}

function marked({ text, ranges }: SearchMatch, mark: (text: string) => string): string {
  // If control characters were removed, the ranges belong to another text.
  if (plain(text) !== text) return plainLine(text);
  let end = 0;
  const parts = ranges.map(([from, to]) => {
    const part = text.slice(end, from) + mark(text.slice(from, to));
    end = to;
    return part;
  });
  return parts.join("") + text.slice(end);
}
