import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FeatureTables, Growing } from "./feature-tables.ts";
import type { GroupCommit } from "./group-commit.ts";
import { gatheredReceipts } from "./gatherings.ts";
import { openTriggers } from "./trigger-rows.ts";

/** How much is kept. */
export interface Retention {
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** Maximum size of the database, without free pages. */
  readonly maxBytes: number;
}

/** The most bytes of bodies in a batch; a larger body is a batch of its own. */
const bytesPerBatch = 4 * 1024 * 1024;
const dayMs = 86_400_000;

/** Runs that are alive, and those whose gates live or waiting work has: they led to it by their calls or sessions. */
const lineage = `WITH RECURSIVE up (instance) AS (
    SELECT instance_id FROM ${openTriggers}
    UNION SELECT caller FROM ${openTriggers}
    UNION SELECT continues FROM ${openTriggers}
    UNION SELECT caller FROM triggers JOIN up ON instance_id = up.instance
    UNION SELECT continues FROM triggers JOIN up ON instance_id = up.instance)
  SELECT instance FROM up WHERE instance IS NOT NULL`;
const isOver = `+state = 'ended' AND (instance_id IS NULL OR +instance_id NOT IN (${lineage}))`;

const ownTables: readonly Growing[] = [
  { table: "triggers", batch: 100, delete: oldest("triggers", isOver) },
  {
    table: "receipts",
    batch: 25,
    // A receipt stays while gathering deliveries, waiting work or live runs may still read its body.
    delete: `DELETE FROM receipts WHERE seq IN
      (SELECT seq FROM
        (SELECT seq, sum(bytes) OVER (ORDER BY at, seq) - bytes AS before FROM
          (SELECT seq, at, length(body) AS bytes FROM receipts WHERE at < ? AND id NOT IN
            (SELECT receipt_id FROM ${openTriggers} AND receipt_id IS NOT NULL UNION ALL ${gatheredReceipts})
           ORDER BY at LIMIT ?))
       WHERE before < ${bytesPerBatch})`,
  },
  {
    table: "run_hosts",
    batch: 200,
    delete: `DELETE FROM run_hosts WHERE (instance_id, denied, host, port) IN
      (SELECT instance_id, denied, host, port FROM run_hosts WHERE at < ? ORDER BY at LIMIT ?)`,
  },
];

const oldSpans = "DELETE FROM off_spans WHERE until < ?";

function oldest(table: string, where = "true"): string {
  return `DELETE FROM ${table} WHERE seq IN
    (SELECT seq FROM ${table} WHERE at < ? AND ${where} ORDER BY at LIMIT ?)`;
}

/** Contents that no stored run uses. */
const unusedContents = `DELETE FROM run_contents WHERE NOT EXISTS
  (SELECT 1 FROM triggers WHERE version IS NOT NULL AND version = hash)`;

/**
 * Deletes history, hosts of runs, receipts and the rows of features older than `days`, then the oldest until the
 * database is within `maxBytes`, and returns the space to the disk. Works in small batches, between which other work
 * continues. Resolves to the number of deleted rows.
 */
export async function prune(
  db: DatabaseSync,
  { write }: GroupCommit,
  features: readonly FeatureTables[],
  { now, days, maxBytes }: Retention,
): Promise<number> {
  const growing = [...ownTables, ...features.flatMap((one) => one.growing ?? [])];
  const deletions = growing.map(({ table, where, batch, delete: sql = oldest(table, where) }) => ({
    batch,
    statement: db.prepare(sql),
  }));
  const keepFloor = db.prepare(
    `INSERT INTO settings VALUES ('history_from', ?) ON CONFLICT DO UPDATE SET value = excluded.value
     WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER)`,
  );
  const expired = [oldSpans, ...features.flatMap(({ expire }) => expire ?? [])];
  const rest = expired.map((sql) => db.prepare(sql));
  const outdated = features.flatMap((one) => (one.outdated ? db.prepare(one.outdated) : []));
  let deleted = 0;
  const deleteBatch = async (before: number): Promise<number> => {
    const rows = await write(() => {
      const changed = deletions.map(({ statement, batch }) => statement.run(before, batch).changes);
      const sum = changed.reduce<number>((all, one) => all + Number(one), 0);
      if (sum > 0) keepFloor.run(String(Math.min(before, now)));
      return sum;
    });
    deleted += rows;
    await nextTurn();
    return rows;
  };

  const deleteContents = (): Promise<void> => write(() => db.exec(unusedContents));
  const cutoff = now - days * dayMs;
  while ((await deleteBatch(cutoff)) > 0);
  // Before the size is checked: unused contents must not cost any history.
  await deleteContents();
  while (usedBytes(db) > maxBytes && (await deleteBatch(olderPart(db, growing))) > 0)
    await deleteContents();
  await write(() => rest.forEach((one) => one.run(cutoff)));
  await write(() => outdated.forEach((one) => one.run(now)));
  if (deleted === 0) return 0;
  await giveBack(db, write);
  return deleted;
}

/** Bytes that hold data. */
function usedBytes(db: DatabaseSync): number {
  const pragma = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
  return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
}

/** A time with a batch of entries before it: history and receipts are deleted together. */
function olderPart(db: DatabaseSync, growing: readonly Growing[]): number {
  const times = growing.map(({ table, batch, where = "true" }) => {
    const oldestFirst = `SELECT at FROM ${table} WHERE ${where} ORDER BY at LIMIT 1 OFFSET ?`;
    const row = db.prepare(oldestFirst).get(batch);
    return row === undefined ? Infinity : Number(row.at);
  });
  return Math.min(...times, Number.MAX_SAFE_INTEGER - 1) + 1;
}

/** Moves free pages out of the file, some at a time. */
async function giveBack(db: DatabaseSync, write: GroupCommit["write"]): Promise<void> {
  const free = (): number => Number(db.prepare("PRAGMA freelist_count").get()?.freelist_count);
  for (let before = free(); before > 0;) {
    await write(() => db.exec("PRAGMA incremental_vacuum(2000)"));
    const after = free();
    if (after >= before) return;
    before = after;
    await nextTurn();
  }
}
