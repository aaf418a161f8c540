import type { DatabaseSync } from "node:sqlite";
import type { SearchPage, SearchQuery, SearchRun } from "./search-report.ts";
import { logsDir } from "../../foundation/logs/log-files.ts";
import { openStoreReader } from "../../foundation/store/store.ts";
import { marks, placesTable, wordsTable } from "./index-format.ts";
import { matchOf } from "./match-of.ts";
import { placeOf, scopeOf, type DayPart, type Place, type Scope } from "./scope.ts";

export interface SearchOptions {
  readonly projectDir: string;
  /** The project's index. */
  readonly db: DatabaseSync;
  /** How long one page may take; a page that is not full by then ends where it is. */
  readonly budgetMs?: number;
}

type RunFacts = Pick<SearchRun, "outcome" | "usd">;

interface PageDeps {
  readonly db: DatabaseSync;
  readonly scope: Scope;
  /** The folder of the log files. */
  readonly dir: string;
  readonly factsOf: (instanceId: string | null) => RunFacts;
  readonly budgetMs: number;
}

/** A line that matches: its number in the day, its log file, its offset, and its run, 0 for none. */
interface Candidate {
  readonly day: string;
  readonly id: number;
  readonly file: number;
  readonly start: number;
  readonly run: number;
}

/** A run, or the lines of a log file outside of runs, by its first matching line. */
interface Group {
  readonly first: Candidate;
  readonly instanceId: string | null;
  /** In the order of the search. */
  readonly days: readonly string[];
  readonly marks: readonly string[];
}

/** Matches of a run in a list. */
const maxMatches = 3;
/** Lines between two reads of the clock. */
const linesPerRead = 64;

/**
 * A page of the runs with matching lines, ordered by their first matching line. It has the lines that are indexed.
 * Throws Problem `bad_search` or `bad_cursor`.
 */
export function searchLogs(options: SearchOptions, query: SearchQuery): SearchPage {
  const { projectDir, db, budgetMs = 100 } = options;
  const dir = logsDir(projectDir);
  const store = openStore(projectDir);
  const factsOf = (instanceId: string | null): RunFacts => {
    const entry = instanceId === null ? undefined : store?.runs.find(instanceId)?.entry;
    return { outcome: entry?.outcome ?? null, usd: entry?.costUsd ?? null };
  };
  // One transaction, so that the whole page sees the same days and lines.
  db.exec("BEGIN");
  try {
    const deps: PageDeps = { db, scope: scopeOf(db, dir, query), dir, factsOf, budgetMs };
    const { groups, next } = findGroups(deps, query);
    const runs = groups.flatMap((group) => runOf(deps, group) ?? []);
    const pass = db.prepare("SELECT at FROM passes").get();
    const indexedUntil = pass === undefined ? null : new Date(Number(pass.at)).toISOString();
    return { runs, next: next && `${next.day}.${next.id}`, indexedUntil, indexing: null };
  } finally {
    db.exec("ROLLBACK");
    store?.close();
  }
}

/** Outcome and cost are unknown without a store, or if its version is another. */
function openStore(projectDir: string): ReturnType<typeof openStoreReader> {
  try {
    return openStoreReader(projectDir);
  } catch {
    return null;
  }
}

function findGroups(
  { db, scope, factsOf, budgetMs }: PageDeps,
  query: SearchQuery,
): { readonly groups: readonly Group[]; readonly next: Place | null } {
  const from = placeOf(query);
  const until = performance.now() + budgetMs;
  const groups: Group[] = [];
  const seen = new Set<string>();
  const groupFor = createGroups(db, scope);
  let last: Place | null = null;
  let lines = 0;
  for (const candidate of candidates(db, scope, scope.parts(scope.days, [], from))) {
    const key = candidate.run === 0 ? `file ${candidate.file}` : `run ${candidate.run}`;
    if (!seen.has(key)) {
      if (groups.length === query.limit) return { groups, next: last };
      seen.add(key);
      const group = groupFor(candidate);
      // A run whose first line is before this page was on an earlier one.
      const isNew = from === null || isSame(firstOf(db, scope, group), candidate);
      const isWanted =
        query.outcome === undefined || factsOf(group.instanceId).outcome === query.outcome;
      if (isNew && isWanted) groups.push(group);
    }
    last = candidate;
    lines += 1;
    if (lines % linesPerRead === 0 && performance.now() > until) return { groups, next: last };
  }
  return { groups, next: null };
}

function createGroups(db: DatabaseSync, { days }: Scope): (first: Candidate) => Group {
  const select = db.prepare("SELECT instance, first_day, last_day FROM runs WHERE id = ?");
  return (first) => {
    const row = first.run === 0 ? undefined : select.get(first.run);
    if (row === undefined) {
      const fileMarks = [marks.file(first.file), marks.run(0)];
      return { first, instanceId: null, days: [first.day], marks: fileMarks };
    }
    const [from, to] = [String(row.first_day), String(row.last_day)];
    return {
      first,
      instanceId: String(row.instance),
      days: days.filter((day) => day >= from && day <= to),
      marks: [marks.run(first.run)],
    };
  };
}

function firstOf(db: DatabaseSync, scope: Scope, group: Group): Candidate | undefined {
  for (const line of candidates(db, scope, scope.parts(group.days, group.marks))) return line;
  return undefined;
}

function isSame(a: Candidate | undefined, b: Candidate): boolean {
  return a?.day === b.day && a.id === b.id;
}

/** Null if all of its lines are gone. */
function runOf({ db, scope, dir, factsOf }: PageDeps, group: Group): SearchRun | null {
  const matches: SearchRun["matches"] = [];
  for (const { file, start } of candidates(db, scope, scope.parts(group.days, group.marks))) {
    const match = matchOf(dir, scope.fileOf(file).name, start, scope.terms);
    if (match !== null) matches.push(match);
    if (matches.length === maxMatches) break;
  }
  const [first] = matches;
  if (first === undefined) return null;
  const { instanceId } = group;
  const { agent } = scope.fileOf(group.first.file);
  const count = countIn(db, scope.parts(group.days, group.marks));
  return { instanceId, agent, at: first.at, ...factsOf(instanceId), count, matches };
}

/** The lines of parts of days, each in order. */
function* candidates(
  db: DatabaseSync,
  { order }: Scope,
  parts: Iterable<DayPart>,
): Generator<Candidate> {
  for (const { day, expression, above, below } of parts) {
    const [words, places] = [wordsTable(day), placesTable(day)];
    const statement = db.prepare(
      `SELECT id, file, start, run FROM ${words} JOIN ${places} ON id = ${words}.rowid
       WHERE ${words} MATCH ? AND ${words}.rowid > ? AND ${words}.rowid < ?
       ORDER BY ${words}.rowid ${order === "newest" ? "DESC" : "ASC"}`,
    );
    for (const { id, file, start, run } of statement.iterate(expression, above, below)) {
      yield { day, id: Number(id), file: Number(file), start: Number(start), run: Number(run) };
    }
  }
}

function countIn(db: DatabaseSync, parts: Iterable<DayPart>): number {
  let sum = 0;
  for (const { day, expression, above, below } of parts) {
    const words = wordsTable(day);
    const statement = db.prepare(
      `SELECT count(*) AS n FROM ${words} WHERE ${words} MATCH ? AND rowid > ? AND rowid < ?`,
    );
    sum += Number(statement.get(expression, above, below)?.n);
  }
  return sum;
}
