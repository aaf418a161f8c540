import {
  outcomeRows,
  refusalOutcomes,
  runOutcomes,
  type Outcome,
} from "../../../streams/outcomes.ts";
import { historyEntrySchema } from "../contracts/history.ts";
import type {
  HistoryEntry,
  CallTree,
  HistoryPage,
  HistoryQuery,
  HourlyRuns,
  LatestRuns,
} from "../contracts/history.ts";
import type { DatabaseSync } from "node:sqlite";
import { isoTime, isoTimes, type InMs } from "../../../streams/iso-times.ts";
import { shownRuns } from "../contracts/format.ts";
import {
  allOf,
  countFilter,
  cursorOf,
  parseCursor,
  rowFilter,
  bucketMs,
  runClasses,
  windowAfter,
  windowAt,
} from "./history-filter.ts";
import type { Cursor, BucketCount, NamedQuery, Window } from "./history-filter.ts";

/** How many entries of one tree are shown: a call may have been retried. */
const longestTree = 500;

/** Reads `triggers` as the history of a project. */
export function createHistory(db: DatabaseSync) {
  return {
    /**
     * One page, newest first. `before` takes a page by cursor, fast at any depth and stable while entries arrive; `page`
     * then skips nothing. `total` is that of the filters. Throws Problem `bad_cursor` and those of the store.
     */
    query: (query: HistoryQuery) => {
      if (query.id !== undefined) return entryPage(db, query.id);
      const cursor = query.before === undefined ? null : parseCursor(query.before);
      return pageOf(db, { ...query, agents: agentsOf(db, query) }, cursor);
    },
    /** The latest runs of these agents that ended, the oldest first. Throws the store's errors. */
    latestRuns: (agents: readonly string[]) => latestRunsOf(db, agents),
    /** The runs of so many hours that ended, the hour of `now` (epoch ms) last. Throws the store's errors. */
    hourlyRuns: (hours: number, now: number) => hourlyRunsOf(db, hours, now),
    /** The tree of calls that an entry belongs to; undefined if the entry is missing. Throws the store's errors. */
    callTree: (id: string) => treeOf(db, id),
  };
}

function entryPage(db: DatabaseSync, id: string): HistoryPage {
  const rows = db.prepare(`SELECT ${entryColumns} FROM triggers WHERE id = ?`).all(id);
  const triggers = (rows as unknown as EntryRow[]).map(entryOf);
  return { triggers, page: 1, limit: 1, total: triggers.length, nextBefore: null };
}

/** The agents that a query names; undefined for all. */
function agentsOf(
  db: DatabaseSync,
  { agent, agentPart }: HistoryQuery,
): readonly string[] | undefined {
  if (agentPart === undefined) return agent === undefined ? undefined : [agent];
  // Jumps from name to name: each has many rows.
  const rows = db
    .prepare(
      `WITH RECURSIVE names (name) AS (SELECT min(agent) FROM trigger_counts UNION ALL
         SELECT (SELECT min(agent) FROM trigger_counts WHERE agent > name) FROM names WHERE name IS NOT NULL)
       SELECT name FROM names WHERE instr(lower(name), lower(?)) > 0 AND name <> '*'`,
    )
    .all(agentPart);
  const names = rows.map(({ name }) => String(name));
  return names.includes(agentPart) ? [agentPart] : names;
}

/**
 * The counts of an agent are read from the newest bucket back, and only as far as its latest runs. Those that may include
 * work without a run count nothing.
 */
function latestRunsOf(db: DatabaseSync, agents: readonly string[]): LatestRuns["agents"] {
  const counts = db.prepare(
    `SELECT bucket, n * (outcome NOT IN (${listOf(refusalOutcomes)})) AS n FROM trigger_counts
     WHERE agent = ? AND outcome IN (${listOf(runOutcomes)}) ORDER BY bucket DESC`,
  );
  const select = db.prepare(
    `SELECT instance_id AS instanceId, outcome, at FROM triggers WHERE seq IN (
       SELECT seq FROM triggers INDEXED BY triggers_by_agent_class
       WHERE agent = ? AND class IN (${listOf(runClasses)}) AND at >= ? AND instance_id IS NOT NULL
       ORDER BY at DESC, seq DESC LIMIT ${shownRuns}
     ) ORDER BY at, seq`,
  );
  return agents.map((name) => {
    let [reached, from] = [0, Infinity];
    for (const { bucket, n } of counts.iterate(name) as Iterable<BucketCount>) {
      if (reached >= shownRuns && bucket < from) break;
      [reached, from] = [reached + n, bucket];
    }
    const rows = from === Infinity ? [] : select.all(name, from * bucketMs);
    return {
      name,
      runs: (rows as unknown as LatestRow[]).map((row) => isoTimes(row, "at")),
    };
  });
}

type LatestRow = InMs<LatestRuns["agents"][number]["runs"][number], "at">;

const hourMs = 3_600_000;
const columnOfKind = { success: "succeeded", failure: "failed" } as const;

/** Only the part of an index is read that has these hours. */
function hourlyRunsOf(db: DatabaseSync, count: number, now: number): HourlyRuns["hours"] {
  const first = Math.floor(now / hourMs) - count + 1;
  const hours = Array.from({ length: count }, (_, index) => ({
    at: isoTime((first + index) * hourMs),
    succeeded: 0,
    failed: 0,
    other: 0,
  }));
  const rows = db
    .prepare(
      `SELECT at / ${hourMs} AS hour, class, count(*) AS n FROM triggers INDEXED BY triggers_by_class
       WHERE class IN (${listOf(runClasses)}) AND at >= ?
         AND (class NOT LIKE '%/superseded/%' OR instance_id IS NOT NULL) GROUP BY hour, class`,
    )
    .all(first * hourMs) as unknown as { hour: number; class: string; n: number }[];
  for (const { hour, class: of, n } of rows) {
    const { kind } = outcomeRows[of.split("/")[1] as Outcome];
    const counts = hours[Math.min(hour - first, count - 1)];
    if (counts !== undefined)
      counts[kind === "success" || kind === "failure" ? columnOfKind[kind] : "other"] += n;
  }
  return hours;
}

function listOf(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

function treeOf(db: DatabaseSync, id: string): CallTree | undefined {
  const found = db
    .prepare(
      "SELECT coalesce(root, id) AS root, value, trigger ->> '$.context' AS context FROM triggers WHERE id = ?",
    )
    .get(id) as { root: string; value: string | null; context: string | null } | undefined;
  if (found === undefined) return undefined;
  const { root, value, context } = found;
  const rows = db
    .prepare(`SELECT ${entryColumns} FROM triggers WHERE id = ? OR root = ? ORDER BY seq LIMIT ?`)
    .all(root, root, longestTree) as unknown as EntryRow[];
  return { context, value: value === null ? null : JSON.parse(value), entries: rows.map(entryOf) };
}

function pageOf(db: DatabaseSync, query: NamedQuery, cursor: Cursor | null): HistoryPage {
  const { page, limit } = query;
  const counts = countsOf(db, query);
  const total = counts.reduce((sum, { n }) => sum + n, 0);
  const size = limit + 1;
  const window =
    cursor === null
      ? windowAt(counts, (page - 1) * limit, size)
      : windowAfter(counts, cursor, size);
  const rows = window === null ? [] : rowsIn(db, query, { ...window, cursor, size });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const nextBefore = last && rows.length > limit ? cursorOf(last) : null;
  return { triggers: shown.map(entryOf), page, limit, total, nextBefore };
}

/** How many entries match the query, by bucket, newest first. Only the bucket of `since` is read. */
function countsOf(db: DatabaseSync, query: NamedQuery): readonly BucketCount[] {
  const since = sinceOf(query);
  const { sql, values } = countFilter(query);
  const first = Math.floor(since / bucketMs);
  const counts = db
    .prepare(
      `SELECT bucket, sum(n) AS n FROM trigger_counts WHERE ${sql} AND bucket >= ?
       GROUP BY bucket ORDER BY bucket DESC`,
    )
    .all(...values, first) as unknown as BucketCount[];
  if (counts.at(-1)?.bucket !== first || since % bucketMs === 0) return counts;
  return [...counts.slice(0, -1), { bucket: first, n: countIn(db, query, since) }];
}

/** How many entries arrived from `since` to the end of its bucket. */
function countIn(db: DatabaseSync, query: NamedQuery, since: number): number {
  const { index, sql, values } = rowFilter(query);
  const statement = `SELECT count(*) AS n FROM triggers INDEXED BY ${index} WHERE ${sql} AND at >= ? AND at < ?`;
  const end = (Math.floor(since / bucketMs) + 1) * bucketMs;
  return Number(db.prepare(statement).get(...values, since, end)?.n);
}

/** The rows of a page. They are found in the index, and only then read. */
function rowsIn(
  db: DatabaseSync,
  query: NamedQuery,
  window: Window & { readonly cursor: Cursor | null; readonly size: number },
): EntryRow[] {
  const { from, to, skip, cursor, size } = window;
  const { index, ...filter } = rowFilter(query);
  const { sql, values } = allOf([
    filter,
    { sql: "at >= ? AND at < ?", values: [Math.max(from, sinceOf(query)), to] },
    ...(cursor === null ? [] : [{ sql: "(at, seq) < (?, ?)", values: [cursor.at, cursor.seq] }]),
  ]);
  const found = `SELECT seq FROM triggers INDEXED BY ${index} WHERE ${sql} ORDER BY at DESC, seq DESC LIMIT ? OFFSET ?`;
  return db
    .prepare(
      `SELECT ${entryColumns} FROM triggers WHERE seq IN (${found}) ORDER BY at DESC, seq DESC`,
    )
    .all(...values, size, skip) as unknown as EntryRow[];
}

/** Epoch ms; no entry is older than 0. */
function sinceOf({ since }: HistoryQuery): number {
  return since === undefined ? 0 : Math.max(0, Date.parse(since));
}

/** An entry as it is stored. */
export interface EntryRow extends Omit<
  HistoryEntry,
  "at" | "startedAt" | "endedAt" | "deadLetter" | "value" | "scheduledFor"
> {
  readonly seq: number;
  readonly at: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly deadLetter: number;
  /** The beginning of the returned value's JSON. */
  readonly value: string | null;
  /** When a tick was due, epoch ms. */
  readonly scheduledFor: number | null;
}

/** Characters of a run's value that a page shows. */
const shownValue = 1000;

/** The columns of an entry, from `triggers`. */
export const entryColumns = `seq, id, at, kind, agent, source, event, action, receipt_id AS receiptId,
  instance_id AS instanceId, outcome, dead_letter AS deadLetter, reason, attempt, started_at AS startedAt,
  ended_at AS endedAt, ended_at - started_at AS durationMs, exit_code AS exitCode, model, tokens,
  cost_usd AS costUsd, call_id AS callId, caller, replay_of AS replayOf, version, substr(value, 1, ${shownValue + 1}) AS value,
  CASE kind WHEN 'cron' THEN trigger ->> '$.scheduledFor' END AS scheduledFor,
  CASE WHEN started_at IS NULL THEN 0 ELSE
    (SELECT count(*) FROM triggers AS made WHERE made.caller = triggers.instance_id AND made.attempt = 1
       AND made.replay_of IS NULL)
  END AS calls`;

/** The wire's shape; parsing drops columns that only the store has, and checks the rows against the contract. */
export function entryOf(row: EntryRow): HistoryEntry {
  return historyEntrySchema.parse({
    ...row,
    at: isoTime(row.at),
    startedAt: isoTime(row.startedAt),
    endedAt: isoTime(row.endedAt),
    deadLetter: row.deadLetter === 1,
    value: row.value === null ? null : shown(row.value),
    scheduledFor: isoTime(row.scheduledFor) ?? undefined,
  });
}

function shown(json: string): unknown {
  return json.length > shownValue ? `${json.slice(0, shownValue)}…` : JSON.parse(json);
}
