import { outcomes, type Outcome, isRefusal, runOutcomes } from "../../../streams/outcomes.ts";
import type { SQLInputValue } from "node:sqlite";
import { triggerKinds } from "../../../streams/vocabulary.ts";
import { Problem } from "../errors.ts";
import type { HistoryQuery } from "../contracts/history.ts";

/** Conditions joined by AND, and the values of their question marks. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** Joins conditions; an empty list is true. */
export function allOf(conditions: readonly Condition[]): Condition {
  const sql = conditions.map((condition) => condition.sql).join(" AND ");
  return { sql: sql || "true", values: conditions.flatMap(({ values }) => values) };
}

/** A query with the agents that it names; undefined for all. */
export type NamedQuery = HistoryQuery & { readonly agents: readonly string[] | undefined };

/** The filters of a query on `trigger_counts`. */
export function countFilter(query: NamedQuery): Condition {
  const { agents, kind, deadLetter } = query;
  // The filter's words for no agent and all agents are not agents' names.
  const names = agents?.filter((name) => name !== "" && name !== "*");
  const given: Condition[] = [oneOf("agent", names ?? ["*"])];
  const add = (column: string, value: SQLInputValue | undefined): void => {
    if (value !== undefined) given.push({ sql: `${column} = ?`, values: [value] });
  };
  if (isOfSomeOutcomes(query)) given.push(oneOf("outcome", outcomesOf(query)));
  add("kind", kind);
  add("dead_letter", deadLetter === undefined ? undefined : Number(deadLetter));
  return allOf(given);
}

/** For more agents, each class would have to be looked up for each of them. */
const soughtAgents = 20;

/** The filters of a query on `triggers`, and the index that has them before the time. */
export function rowFilter(query: NamedQuery): Condition & { readonly index: string } {
  const { agents, kind, deadLetter } = query;
  const isAll = kind === undefined && deadLetter === undefined && !isOfSomeOutcomes(query);
  const inClass = oneOf("class", classesOf(query));
  const ofAgents = agents === undefined ? [] : [oneOf("agent", agents)];
  if (agents !== undefined && agents.length <= soughtAgents) {
    return { index: "triggers_by_agent_class", ...allOf([...ofAgents, inClass]) };
  }
  if (isAll) return { index: "triggers_by_time", ...allOf(ofAgents) };
  return { index: "triggers_by_class", ...allOf([inClass, ...ofAgents]) };
}

function isOfSomeOutcomes({ outcome, refused }: HistoryQuery): boolean {
  return outcome !== undefined || refused === true;
}

function outcomesOf({ outcome, refused }: HistoryQuery): readonly Outcome[] {
  const given = outcome === undefined ? outcomes : [outcome];
  return refused === true ? given.filter(isRefusal) : given;
}

function oneOf(column: string, values: readonly string[]): Condition {
  return { sql: `${column} IN (${values.map(() => "?").join(", ")})`, values };
}

/** All values that the column `class` has in rows that meet the query. */
function classesOf(query: HistoryQuery): string[] {
  const { kind, deadLetter } = query;
  const kinds = kind === undefined ? triggerKinds : [kind];
  const ends = isOfSomeOutcomes(query) ? outcomesOf(query) : ["", ...outcomes];
  const dead = deadLetter === undefined ? [0, 1] : [Number(deadLetter)];
  return kinds.flatMap((one) => ends.flatMap((end) => dead.map((flag) => `${one}/${end}/${flag}`)));
}

/** Values of the column `class` in rows of runs that ended. */
export const runClasses = triggerKinds.flatMap((kind) =>
  runOutcomes.flatMap((end) => [0, 1].map((flag) => `${kind}/${end}/${flag}`)),
);

/** A place in the history: all older entries come after it. */
export interface Cursor {
  readonly at: number;
  readonly seq: number;
}

/** The cursor of a row: where the next, older page begins. */
export function cursorOf(row: Cursor): string {
  return `${row.at.toString(36)}-${row.seq.toString(36)}`;
}

/** Reads a cursor. Throws Problem `bad_cursor` for other text. */
export function parseCursor(text: string): Cursor {
  const parts = /^([0-9a-z]{1,10})-([0-9a-z]{1,10})$/.exec(text);
  if (parts === null) {
    throw new Problem("bad_cursor", `before: "${text.slice(0, 80)}" is not a cursor`, {
      hint: "use the nextBefore of an earlier page",
      exitCode: 2,
    });
  }
  const [at = 0, seq = 0] = parts.slice(1).map((part) => Number.parseInt(part, 36));
  return { at, seq };
}

/** The length of a bucket of `trigger_counts`, in ms; the migrations have it too. */
export const bucketMs = 3 * 3_600_000;

/** How many matching entries arrived in a bucket. */
export interface BucketCount {
  readonly bucket: number;
  readonly n: number;
}

/** A time range that contains a page, and how many newer entries in it come before the page. */
export interface Window {
  /** Epoch ms, inclusive. */
  readonly from: number;
  /** Epoch ms, exclusive. */
  readonly to: number;
  readonly skip: number;
}

/**
 * The range of the page that begins after `offset` entries, found by adding up: only the entries of its first bucket are
 * visited, at any depth. `counts` are newest first and not empty of entries. Null past the end.
 */
export function windowAt(
  counts: readonly BucketCount[],
  offset: number,
  size: number,
): Window | null {
  let skip = offset;
  const first = counts.findIndex(({ n }) => {
    if (skip < n) return true;
    skip -= n;
    return false;
  });
  const newest = counts[first];
  if (newest === undefined) return null;
  const from = startOf(counts.slice(first), skip + size);
  return { from, to: (newest.bucket + 1) * bucketMs, skip };
}

/** The range of the page that begins after a cursor; how much of the cursor's own bucket is older is unknown. */
export function windowAfter(counts: readonly BucketCount[], cursor: Cursor, size: number): Window {
  const own = Math.floor(cursor.at / bucketMs);
  const older = counts.filter(({ bucket }) => bucket < own);
  const from = older.length === 0 ? own * bucketMs : startOf(older, size);
  return { from, to: cursor.at + 1, skip: 0 };
}

/** The start of the bucket that contains this many entries, or of the last one. */
function startOf(counts: readonly BucketCount[], wanted: number): number {
  let reached = 0;
  const enough = counts.find(({ n }) => (reached += n) >= wanted) ?? counts.at(-1);
  return (enough?.bucket ?? 0) * bucketMs;
}
