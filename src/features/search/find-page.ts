import type { DatabaseSync } from "node:sqlite";
import type {
  SearchMatch,
  SearchPage,
  SearchQuery,
  SearchRun,
} from "../../foundation/contracts/search.ts";
import { candidates, countIn } from "./day-reader.ts";
import type { Candidate } from "./day-reader.ts";
import { marks } from "./index-format.ts";
import { matchOf, maxMatches } from "./match-of.ts";
import type { RunFactsReader } from "./run-facts.ts";
import { cursorOf, placeOf, scopeOf } from "./scope.ts";
import type { Place, Scope } from "./scope.ts";

export interface PageDeps {
  readonly db: DatabaseSync;
  /** The folder of the log files. */
  readonly dir: string;
  readonly facts: RunFactsReader;
  /** How long lines are looked through for one page; then it ends where it is. */
  readonly budgetMs: number;
}

/** A run, or the lines of a log file that belong to none, by the first of its lines that match. */
interface Group {
  readonly first: Candidate;
  readonly instanceId: string | null;
  /** In the order of the search. */
  readonly days: readonly string[];
  readonly marks: readonly string[];
}

/** A look at the clock every so many lines. */
const linesPerLook = 64;

/** A page of runs, those first whose first matching line is first in the search's order. */
export function findPage(deps: PageDeps, query: SearchQuery): Omit<SearchPage, "indexedUntil"> {
  const { db, dir } = deps;
  const scope = scopeOf(db, dir, query);
  const { groups, next } = findGroups(deps, query, scope);
  const runs = groups.flatMap((group) => runOf(deps, scope, group) ?? []);
  return { runs, next: next && cursorOf(next) };
}

function findGroups(
  { db, facts, budgetMs }: PageDeps,
  query: SearchQuery,
  scope: Scope,
): { readonly groups: readonly Group[]; readonly next: Place | null } {
  const from = placeOf(query);
  const until = performance.now() + budgetMs;
  const groups: Group[] = [];
  const seen = new Set<string>();
  const groupFor = createGroups(db, scope);
  let last: Place | null = null;
  let looked = 0;
  for (const candidate of candidates(db, scope.parts(scope.days, [], from), scope.order)) {
    const key = candidate.run === 0 ? `file ${candidate.file}` : `run ${candidate.run}`;
    if (!seen.has(key)) {
      if (groups.length === query.limit) return { groups, next: last };
      seen.add(key);
      const group = groupFor(candidate);
      // A run whose first line is before this page was on an earlier one.
      const isWanted = from === null || isSame(firstOf(db, scope, group), candidate);
      if (isWanted && hasOutcome(group, query, facts)) groups.push(group);
    }
    last = candidate;
    looked += 1;
    if (looked % linesPerLook === 0 && performance.now() > until) return { groups, next: last };
  }
  return { groups, next: null };
}

function hasOutcome(group: Group, { outcome }: SearchQuery, facts: RunFactsReader): boolean {
  if (outcome === undefined) return true;
  return group.instanceId !== null && facts.of(group.instanceId).outcome === outcome;
}

function createGroups(db: DatabaseSync, { days }: Scope): (first: Candidate) => Group {
  const select = db.prepare("SELECT instance, first_day, last_day FROM runs WHERE id = ?");
  return (first) => {
    const row = first.run === 0 ? undefined : select.get(first.run);
    if (row === undefined) {
      const ofFile = [marks.file(first.file), marks.run(0)];
      return { first, instanceId: null, days: [first.day], marks: ofFile };
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

function linesOf(db: DatabaseSync, scope: Scope, group: Group): Generator<Candidate> {
  return candidates(db, scope.parts(group.days, group.marks), scope.order);
}

function firstOf(db: DatabaseSync, scope: Scope, group: Group): Candidate | undefined {
  for (const line of linesOf(db, scope, group)) return line;
  return undefined;
}

function isSame(a: Candidate | undefined, b: Candidate): boolean {
  return a?.day === b.day && a.id === b.id;
}

/** Null when none of its lines is there any more. */
function runOf({ db, dir, facts }: PageDeps, scope: Scope, group: Group): SearchRun | null {
  const matches: SearchMatch[] = [];
  for (const { file, start } of linesOf(db, scope, group)) {
    const match = matchOf(dir, scope.fileOf(file).name, start, scope.terms);
    if (match !== null) matches.push(match);
    if (matches.length === maxMatches) break;
  }
  const [first] = matches;
  if (first === undefined) return null;
  const { instanceId } = group;
  const { outcome, usd } = facts.of(instanceId);
  const { agent } = scope.fileOf(group.first.file);
  const count = countIn(db, scope.parts(group.days, group.marks));
  return { instanceId, agent, at: first.at, outcome, usd, count, matches };
}
