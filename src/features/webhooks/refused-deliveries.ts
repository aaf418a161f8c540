import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { Subject } from "rxjs";
import { isoTimes, type InMs } from "../../../streams/iso-times.ts";
import { refusedTogetherMs } from "./delivery-report.ts";
import type {
  RefusedDeliveries,
  RefusedDeliveriesQuery,
  RefusedDelivery,
} from "./delivery-report.ts";
import { createEachSecond, type GroupCommit } from "../../foundation/store/group-commit.ts";

/** Counts of ten minutes. `source` is empty if it is unknown. */
export const refusedTables: FeatureTables = {
  steps: [
    `CREATE TABLE refused_deliveries (
      stretch INTEGER NOT NULL,
      type TEXT NOT NULL,
      source TEXT NOT NULL,
      result TEXT NOT NULL,
      first_at INTEGER NOT NULL,
      last_at INTEGER NOT NULL,
      count INTEGER NOT NULL,
      reason TEXT NOT NULL,
      PRIMARY KEY (stretch, type, source, result)
    ) WITHOUT ROWID, STRICT;
    CREATE INDEX refused_deliveries_by_time ON refused_deliveries (last_at);`,
  ],
  expire: "DELETE FROM refused_deliveries WHERE last_at < ?",
};

/** Deliveries that are added up until the next commit. Times are epoch ms. */
interface Counted extends RefusedDelivery {
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
}

/**
 * Counts refused deliveries, which any sender can make: a row for each source and result in ten minutes, written once a
 * second. `now` gives epoch ms.
 */
export function createRefusedDeliveries(
  db: DatabaseSync,
  { record }: GroupCommit,
  now: () => number,
) {
  const add = prepareAdd(db);
  let waiting = new Map<string, Counted>();
  const written$ = new Subject<void>();
  const commits = createEachSecond(() => {
    const counted = [...waiting.values()];
    waiting = new Map();
    if (counted.length === 0) return Promise.resolve();
    return record(() => counted.forEach(add)).then(() => written$.next());
  });
  return {
    /** Counts a delivery; committed within a second or so. */
    add: (delivery: RefusedDelivery): void => {
      const at = now();
      const { type, source, result } = delivery;
      const key = JSON.stringify([stretchOf(at), type, source, result]);
      const { firstAt = at, count = 0 } = waiting.get(key) ?? {};
      waiting.set(key, { ...delivery, firstAt, lastAt: at, count: count + 1 });
      commits.schedule();
    },
    /** Emits after each commit. */
    written$: written$.asObservable(),
    flush: commits.flush,
    close: commits.close,
    /** The latest first. */
    query: (query: RefusedDeliveriesQuery): readonly RefusedDeliveries[] => rowsOf(db, query),
  };
}

function stretchOf(at: number): number {
  return Math.floor(at / refusedTogetherMs);
}

function prepareAdd(db: DatabaseSync): (counted: Counted) => void {
  const insert = db.prepare(
    `INSERT INTO refused_deliveries (stretch, type, source, result, first_at, last_at, count, reason)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET last_at = excluded.last_at, count = count + excluded.count,
       reason = excluded.reason`,
  );
  return ({ type, source, result, firstAt, lastAt, count, reason }) => {
    const stretch = stretchOf(firstAt);
    insert.run(stretch, type, source ?? "", result, firstAt, lastAt, count, reason);
  };
}

function rowsOf(
  db: DatabaseSync,
  { source, since, limit }: RefusedDeliveriesQuery,
): readonly RefusedDeliveries[] {
  const values: SQLInputValue[] = [since === undefined ? 0 : Math.max(0, Date.parse(since))];
  if (source !== undefined) values.push(source);
  const rows = db
    .prepare(
      `SELECT type, result, count, first_at AS firstAt, last_at AS lastAt, reason, nullif(source, '') AS source
       FROM refused_deliveries WHERE last_at >= ? ${source === undefined ? "" : "AND source = ?"}
       ORDER BY last_at DESC LIMIT ?`,
    )
    .all(...values, limit) as unknown as InMs<RefusedDeliveries, "firstAt" | "lastAt">[];
  return rows.map((row) => isoTimes(row, "firstAt", "lastAt"));
}

/** A delivery that gave an agent no work. */
interface UnmatchedReceipt {
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  /** Size of its body. */
  readonly bytes: number;
}

/** How many deliveries are searched at a time, whether they are unmatched or not: about a millisecond. */
const searchedPerPage = 500;

/** How many of the newest deliveries are searched, over all sources. */
const mostScanned = 5_000;

/** Reads which `receipts` gave an agent no work. */
export function createUnmatchedReceipts(db: DatabaseSync) {
  // Sizes are read together with the rows: a subquery that returns bodies would read them all. A row about the agent means
  // that it was matched or disabled, and why nothing ran. A gathered delivery has none.
  const find = db.prepare(
    `SELECT id, at, bytes FROM
       (SELECT id, at, seq, source, matched, length(body) AS bytes FROM receipts WHERE at >= :since ORDER BY at DESC, seq DESC LIMIT ${mostScanned}) AS latest
     WHERE source IN (SELECT value FROM json_each(:sources)) AND NOT EXISTS
       (SELECT 1 FROM triggers WHERE receipt_id = latest.id AND agent = :agent)
       AND :agent NOT IN (SELECT value FROM json_each(matched))
     ORDER BY at DESC, seq DESC LIMIT :limit`,
  );
  const nth = db.prepare(
    `SELECT at FROM receipts WHERE at >= ? ORDER BY at DESC LIMIT 1 OFFSET ${mostScanned}`,
  );
  const placeOf = db.prepare("SELECT at, seq FROM receipts WHERE id = ?");
  const page = db.prepare(
    `SELECT id, at, length(body) AS bytes, (:source IS NULL OR source = :source) AND matched = '[]' AND NOT EXISTS
       (SELECT 1 FROM triggers WHERE receipt_id = receipts.id AND trigger IS NOT NULL) AS fits
     FROM receipts WHERE at >= :since AND (at, seq) > (:at, :seq) ORDER BY at, seq LIMIT ${searchedPerPage}`,
  );
  return {
    /**
     * Receipts that gave no agent work, the earliest first; from `since`, epoch ms, or after one of an earlier page. `last`
     * is the last one that was searched; null at the end.
     */
    page: (since: number, source: string | null, after: string | null) => {
      const place = after === null ? undefined : placeOf.get(after);
      const { at, seq } = place ?? { at: since, seq: -1 };
      const found = page.all({
        source,
        since,
        at: at ?? 0,
        seq: seq ?? 0,
      }) as unknown as (UnmatchedReceipt & {
        readonly fits: number;
      })[];
      const last = found.length < searchedPerPage ? null : (found.at(-1)?.id ?? null);
      return { receipts: found.filter(({ fits }) => fits === 1), last };
    },
    /** Receipts of these sources, the latest first. `since` is epoch ms. */
    of: (
      agent: string,
      asked: {
        readonly sources: readonly string[];
        readonly since: number;
        readonly limit: number;
      },
    ): readonly UnmatchedReceipt[] => {
      const { sources, since, limit } = asked;
      const given = { agent, since, limit, sources: JSON.stringify(sources) };
      return find.all(given) as unknown as UnmatchedReceipt[];
    },
    /** Time of the newest unexamined delivery since `since`, epoch ms; null if all were examined. */
    firstLeftOut: (since: number): number | null => {
      const row = nth.get(since);
      return row === undefined ? null : Number(row.at);
    },
  };
}
