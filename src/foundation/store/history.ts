import type { DatabaseSync } from "node:sqlite";
import type { CallTree, HistoryPage, HistoryQuery } from "../contracts/history.ts";
import { allOf, countFilter, cursorOf, parseCursor, rowFilter } from "./history-filter.ts";
import type { Cursor } from "./history-filter.ts";
import { entryColumns, entryOf } from "./history-rows.ts";
import type { EntryRow } from "./history-rows.ts";
import { bucketMs, windowAfter, windowAt } from "./history-window.ts";
import type { BucketCount, Window } from "./history-window.ts";

/** Entries of one tree that are shown: a call of it may have been tried more than once. */
const longestTree = 500;

/** Reads `triggers` as the history of a project. */
export function createHistory(db: DatabaseSync) {
  return {
    /**
     * One page, newest first. `before` takes a page by cursor, fast at any depth and stable while entries arrive, and
     * then `page` skips nothing. `total` is that of the filters. Throws UserError `bad_cursor` and those of the store.
     */
    query: (query: HistoryQuery) => {
      const cursor = query.before === undefined ? null : parseCursor(query.before);
      return pageOf(db, query, cursor);
    },
    /** The tree of calls that an entry belongs to; undefined when there is no such entry. Throws those of the store. */
    callTree: (id: string) => treeOf(db, id),
  };
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
  return {
    context,
    value: value === null ? null : JSON.parse(value),
    entries: rows.map(entryOf),
  };
}

function pageOf(db: DatabaseSync, query: HistoryQuery, cursor: Cursor | null): HistoryPage {
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

/** How many entries meet the query, by bucket, newest first. Only the bucket of `since` has to be looked into. */
function countsOf(db: DatabaseSync, query: HistoryQuery): readonly BucketCount[] {
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
function countIn(db: DatabaseSync, query: HistoryQuery, since: number): number {
  const { index, sql, values } = rowFilter(query);
  const statement = `SELECT count(*) AS n FROM triggers INDEXED BY ${index} WHERE ${sql} AND at >= ? AND at < ?`;
  const end = (Math.floor(since / bucketMs) + 1) * bucketMs;
  return Number(db.prepare(statement).get(...values, since, end)?.n);
}

/** The rows of a page. They are found in the index alone, and only then read. */
function rowsIn(
  db: DatabaseSync,
  query: HistoryQuery,
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

/** Epoch ms; nothing is older than 0. */
function sinceOf({ since }: HistoryQuery): number {
  return since === undefined ? 0 : Math.max(0, Date.parse(since));
}
