import type { DatabaseSync } from "node:sqlite";
import type { SearchPage, SearchQuery, SearchRun } from "../../foundation/contracts/search.ts";
import { logsDir, utcDate, parseLogFileName } from "../../foundation/logs/log-files.ts";
import { findPage } from "./find-page.ts";
import { indexPath, openIndexToRead } from "./index-format.ts";
import { maxMatches } from "./match-of.ts";
import { openRunFacts } from "./run-facts.ts";
import type { RunFactsReader } from "./run-facts.ts";
import { scan } from "./scan.ts";
import { placeOf } from "./scope.ts";
import { parseTerms } from "./terms.ts";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readableSize } from "./readable.ts";
import type { Unindexed } from "./scan.ts";

export interface SearchOptions {
  readonly projectDir: string;
  /** How long an index is looked through for one page; then it ends where it is. */
  readonly budgetMs?: number;
  /** How much of the logs that is not indexed is looked through. */
  readonly maxScanBytes?: number;
}

const dayMs = 86_400_000;
/** The lines of a second or two: reading them takes a few ms. */
const usualScanBytes = 2 * 1024 * 1024;

/**
 * Searches the logs of a project, beside the scheduler that writes them or without one: by their index, and line by line
 * what is not indexed yet. Changes nothing. Rejects with UserError `bad_search` or `bad_cursor`.
 */
export async function searchLogs(options: SearchOptions, query: SearchQuery): Promise<SearchPage> {
  const { projectDir, budgetMs = 100, maxScanBytes = usualScanBytes } = options;
  // What can't be asked is refused whether there is an index or not.
  parseTerms(query.q);
  placeOf(query);
  const db = openIndexToRead(indexPath(projectDir));
  const facts = openRunFacts(projectDir);
  try {
    // A page is of one moment, though days go and lines come meanwhile.
    db?.exec("BEGIN");
    const dir = logsDir(projectDir);
    const page = db ? findPage({ db, dir, facts, budgetMs }, query) : { runs: [], next: null };
    // Files of days that are over are complete, and there may be thousands.
    const rest = unindexed(db, dir, db ? utcDate(Date.now() - dayMs) : "");
    const isScanned = rest.bytes <= maxScanBytes;
    const runs = isScanned ? await withRest(page, { dir, rest, query, facts }) : page.runs;
    const pass = lastPass(db);
    // Before the first pass over all files, days that are over may be missing.
    const isWhole = isScanned && (db === null || pass !== null);
    const until = isWhole ? Date.now() : pass;
    const indexedUntil = until === null ? null : new Date(until).toISOString();
    return { runs, next: page.next, indexedUntil };
  } finally {
    facts.close();
    db?.close();
  }
}

interface RestDeps {
  readonly dir: string;
  readonly rest: Rest;
  readonly query: SearchQuery;
  readonly facts: RunFactsReader;
}

/** What is not indexed is the newest: it belongs to the first page, or to the last one of those from the oldest. */
async function withRest(
  { runs, next }: Omit<SearchPage, "indexedUntil">,
  { dir, rest, query, facts }: RestDeps,
): Promise<SearchRun[]> {
  const isNewest = query.order === "newest";
  if (isNewest ? query.before !== undefined : next !== null) return [...runs];
  const more = await scan(dir, rest.parts, query, facts);
  return isNewest ? joined(more, runs) : joined(runs, more);
}

/** The runs of both, in this order; a run that is in both is there once. */
function joined(first: readonly SearchRun[], second: readonly SearchRun[]): SearchRun[] {
  const rest = new Map(second.map((run) => [keyOf(run), run]));
  const both = first.map((run): SearchRun => {
    const other = rest.get(keyOf(run));
    rest.delete(keyOf(run));
    if (other === undefined) return run;
    const matches = [...run.matches, ...other.matches].slice(0, maxMatches);
    return { ...run, count: run.count + other.count, matches };
  });
  return [...both, ...rest.values()];
}

/** Lines of no run belong together by log file. */
function keyOf({ instanceId, matches }: SearchRun): string {
  return instanceId ?? String(matches[0]?.position.split(":")[0]);
}

/** Epoch ms; null before the first pass. */
function lastPass(db: DatabaseSync | null): number | null {
  const pass = db?.prepare("SELECT at FROM passes").get();
  return pass === undefined ? null : Number(pass.at);
}

/** What of log files is not indexed, and how many bytes that is. */
interface Rest {
  readonly parts: readonly Unindexed[];
  readonly bytes: number;
}

/** All parts of log files that an index lacks; without an index, all files. */
function unindexed(db: DatabaseSync | null, dir: string, firstDay = ""): Rest {
  const rows = db?.prepare("SELECT name, indexed FROM files WHERE day >= ?").all(firstDay) ?? [];
  const indexed = new Map(rows.map((row) => [String(row.name), Number(row.indexed)]));
  const parts: Unindexed[] = [];
  let bytes = 0;
  for (const name of namesIn(dir)) {
    const file = parseLogFileName(name);
    if (file === null || file.date < firstDay) continue;
    const size = readableSize(join(dir, name)) ?? 0;
    const from = indexed.get(name) ?? 0;
    if (size <= from) continue;
    parts.push({ file, from });
    bytes += size - from;
  }
  return { parts, bytes };
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
