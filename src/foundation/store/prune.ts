import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { GroupCommit } from "./group-commit.ts";
import { openTriggers } from "./trigger-rows.ts";

/** How much is kept. */
export interface Retention {
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** Maximum size of the database, without free pages. */
  readonly maxBytes: number;
}

/** A table that grows, and how its oldest rows are deleted: a limited number from before a time. */
interface Growing {
  /** With a condition if only some of its rows may be deleted. */
  readonly table: string;
  /** Small, so that a batch never delays a webhook's commit for long: 11 ms on average, measured on a million. */
  readonly batch: number;
  readonly delete: string;
}

/** The most bytes of bodies in a batch; a larger body is a batch of its own. */
const bytesPerBatch = 4 * 1024 * 1024;
const dayMs = 86_400_000;

/** Runs that are alive, and those whose gates live or waiting work has: they led to it by their calls or sessions. */
const lineage = `WITH RECURSIVE up (instance) AS (
    SELECT instance_id FROM ${openTriggers}
    UNION SELECT coalesce(caller, continues) FROM ${openTriggers}
    UNION SELECT coalesce(caller, continues) FROM triggers JOIN up ON instance_id = up.instance)
  SELECT instance FROM up WHERE instance IS NOT NULL`;
const isOver = `+state = 'ended' AND (instance_id IS NULL OR +instance_id NOT IN (${lineage}))`;

const growing: readonly Growing[] = [
  { table: "triggers", batch: 100, delete: oldest("triggers", isOver) },
  {
    table: "receipts",
    batch: 25,
    // A receipt stays while waiting work or live runs may still read its body.
    delete: `DELETE FROM receipts WHERE seq IN
      (SELECT seq FROM
        (SELECT seq, sum(bytes) OVER (ORDER BY at, seq) - bytes AS before FROM
          (SELECT seq, at, length(body) AS bytes FROM receipts WHERE at < ? AND id NOT IN
            (SELECT receipt_id FROM ${openTriggers} AND receipt_id IS NOT NULL)
           ORDER BY at LIMIT ?))
       WHERE before < ${bytesPerBatch})`,
  },
  { table: "model_calls", batch: 200, delete: oldest("model_calls", "reserved IS NULL") },
  {
    table: "run_hosts",
    batch: 200,
    delete: `DELETE FROM run_hosts WHERE (instance_id, denied, host, port) IN
      (SELECT instance_id, denied, host, port FROM run_hosts WHERE at < ? ORDER BY at LIMIT ?)`,
  },
  // Waiting alerts are never deleted. Many of them, for a target that is down, would otherwise be the oldest rows, and no
  // younger row of any table would be deleted.
  {
    table: "outbox WHERE state <> 'waiting'",
    batch: 200,
    delete: oldest("outbox", "+state <> 'waiting'"),
  },
  // An open question belongs to a live run.
  {
    table: "questions WHERE state <> 'open'",
    batch: 200,
    delete: oldest("questions", "+state <> 'open'"),
  },
  { table: "inbox", batch: 200, delete: oldest("inbox", "true") },
  { table: "run_sessions", batch: 10, delete: oldest("run_sessions", "true") },
  { table: "audit", batch: 200, delete: oldest("audit", "true") },
];

function oldest(table: string, condition: string): string {
  return `DELETE FROM ${table} WHERE seq IN
    (SELECT seq FROM ${table} WHERE at < ? AND ${condition} ORDER BY at LIMIT ?)`;
}

/** Budget windows and runs that have ended: a limit still counts the spending of a suspended run from weeks ago. */
const oldSpend = `DELETE FROM spend WHERE until < ? AND reserved = 0 AND scope NOT IN
  (SELECT 'run:' || instance_id FROM ${openTriggers} AND instance_id IS NOT NULL)`;
const oldRefused = "DELETE FROM refused_deliveries WHERE last_at < ?";
/** Contents that no stored run uses. */
const unusedContents = `DELETE FROM run_contents WHERE NOT EXISTS
  (SELECT 1 FROM triggers WHERE version IS NOT NULL AND version = hash)`;

/**
 * Deletes history, calls to models, hosts of runs, alerts and receipts older than `days`, then the oldest until the
 * database is within `maxBytes`, and returns the space to the disk. Works in small batches, between which other work
 * continues. Resolves to the number of deleted rows.
 */
export async function prune(
  db: DatabaseSync,
  { write }: GroupCommit,
  { now, days, maxBytes }: Retention,
): Promise<number> {
  const deletions = growing.map((one) => ({ ...one, statement: db.prepare(one.delete) }));
  const rest = [oldSpend, oldRefused].map((sql) => db.prepare(sql));
  let deleted = 0;
  const deleteBatch = async (before: number): Promise<number> => {
    const rows = await write(() =>
      deletions.reduce(
        (sum, { statement, batch }) => sum + Number(statement.run(before, batch).changes),
        0,
      ),
    );
    deleted += rows;
    await nextTurn();
    return rows;
  };

  const deleteContents = (): Promise<void> => write(() => db.exec(unusedContents));
  const cutoff = now - days * dayMs;
  while ((await deleteBatch(cutoff)) > 0);
  // Before the size is checked: unused contents must not cost any history.
  await deleteContents();
  while (usedBytes(db) > maxBytes && (await deleteBatch(olderPart(db))) > 0) await deleteContents();
  await write(() => rest.forEach((one) => one.run(cutoff)));
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
function olderPart(db: DatabaseSync): number {
  const times = growing.map(({ table, batch }) => {
    const row = db.prepare(`SELECT at FROM ${table} ORDER BY at LIMIT 1 OFFSET ?`).get(batch);
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
