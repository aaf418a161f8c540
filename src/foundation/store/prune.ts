import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { GroupCommit } from "./group-commit.ts";
import { openTriggers } from "./open-triggers.ts";

/** What may be kept. */
export interface Retention {
  /** Epoch ms. */
  readonly now: number;
  readonly days: number;
  /** The most that the database may have, free pages not counted. */
  readonly maxBytes: number;
}

/** How many rows pruning deleted. */
export interface Pruned {
  readonly triggers: number;
  readonly receipts: number;
  /** Calls to models. */
  readonly modelCalls: number;
  /** Hosts of runs. */
  readonly hosts: number;
  /** Alerts that are delivered or given up. */
  readonly alerts: number;
}

/** Small, so that a batch never holds up a webhook's commit for long: 11 ms on average, measured on a million. */
const triggersPerBatch = 100;
const receiptsPerBatch = 25;
const modelCallsPerBatch = 200;
const hostsPerBatch = 200;
const alertsPerBatch = 200;
/** The most bytes of bodies in a batch; a larger body is a batch of its own. */
const bytesPerBatch = 4 * 1024 * 1024;
const dayMs = 86_400_000;

/** Ended history only; a receipt stays as long as work waits or runs that may still read its body. */
const oldTriggers = `DELETE FROM triggers WHERE seq IN
  (SELECT seq FROM triggers WHERE at < ? AND +state = 'ended' ORDER BY at LIMIT ${triggersPerBatch})
  RETURNING version`;
const oldReceipts = `DELETE FROM receipts WHERE seq IN
  (SELECT seq FROM
    (SELECT seq, sum(bytes) OVER (ORDER BY at, seq) - bytes AS before FROM
      (SELECT seq, at, length(body) AS bytes FROM receipts WHERE at < ? AND id NOT IN
        (SELECT receipt_id FROM ${openTriggers} AND receipt_id IS NOT NULL)
       ORDER BY at LIMIT ${receiptsPerBatch}))
   WHERE before < ${bytesPerBatch})`;

const oldModelCalls = `DELETE FROM model_calls WHERE seq IN
  (SELECT seq FROM model_calls WHERE at < ? AND reserved IS NULL ORDER BY at LIMIT ${modelCallsPerBatch})`;
const oldHosts = `DELETE FROM run_hosts WHERE (instance_id, denied, host, port) IN
  (SELECT instance_id, denied, host, port FROM run_hosts WHERE at < ? ORDER BY at LIMIT ${hostsPerBatch})`;
const oldAlerts = `DELETE FROM outbox WHERE seq IN
  (SELECT seq FROM outbox WHERE at < ? AND +state <> 'waiting' ORDER BY at LIMIT ${alertsPerBatch})`;
/** Windows that turned and runs that are over: a limit still counts what a suspended run spent weeks ago. */
const oldSpend = `DELETE FROM spend WHERE until < ? AND reserved = 0 AND scope NOT IN
  (SELECT 'run:' || instance_id FROM ${openTriggers} AND instance_id IS NOT NULL)`;

const oldRefused = "DELETE FROM refused_deliveries WHERE last_at < ?";

/** Deletes the contents of a JSON array of hashes that no stored run uses. */
const unusedContents = `DELETE FROM run_contents WHERE hash IN
  (SELECT one.value FROM json_each(?) AS one WHERE NOT EXISTS
    (SELECT 1 FROM triggers WHERE version IS NOT NULL AND version = one.value))`;

/**
 * Deletes history, calls to models, hosts of runs, alerts and receipts older than `days`, then the oldest until the database is within
 * `maxBytes`, and gives the space back to the disk. Works in small batches between which everything else goes on.
 */
export async function prune(
  db: DatabaseSync,
  { write }: GroupCommit,
  { now, days, maxBytes }: Retention,
): Promise<Pruned> {
  const deleteTriggers = db.prepare(oldTriggers);
  const deleteReceipts = db.prepare(oldReceipts);
  const deleteModelCalls = db.prepare(oldModelCalls);
  const deleteHosts = db.prepare(oldHosts);
  const deleteAlerts = db.prepare(oldAlerts);
  const deleteSpend = db.prepare(oldSpend);
  const deleteRefused = db.prepare(oldRefused);
  const deleteContents = db.prepare(unusedContents);
  const pruned = { triggers: 0, receipts: 0, modelCalls: 0, hosts: 0, alerts: 0 };

  const deleteBatch = async (before: number): Promise<number> => {
    const batch = await write(() => {
      const versions = deleteTriggers.all(before).map(({ version }) => version);
      if (versions.length > 0) deleteContents.run(JSON.stringify([...new Set(versions)]));
      return {
        triggers: versions.length,
        receipts: Number(deleteReceipts.run(before).changes),
        modelCalls: Number(deleteModelCalls.run(before).changes),
        hosts: Number(deleteHosts.run(before).changes),
        alerts: Number(deleteAlerts.run(before).changes),
      };
    });
    pruned.triggers += batch.triggers;
    pruned.receipts += batch.receipts;
    pruned.modelCalls += batch.modelCalls;
    pruned.hosts += batch.hosts;
    pruned.alerts += batch.alerts;
    await nextTurn();
    return total(batch);
  };

  const cutoff = now - days * dayMs;
  while ((await deleteBatch(cutoff)) > 0);
  while (usedBytes(db) > maxBytes && (await deleteBatch(olderPart(db))) > 0);
  await write(() => {
    deleteSpend.run(cutoff);
    deleteRefused.run(cutoff);
  });
  if (total(pruned) > 0) await giveBack(db, write);
  return pruned;
}

function total({ triggers, receipts, modelCalls, hosts, alerts }: Pruned): number {
  return triggers + receipts + modelCalls + hosts + alerts;
}

/** Bytes that hold data. */
function usedBytes(db: DatabaseSync): number {
  const pragma = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
  return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
}

/** A time that has a batch of entries before it: history and receipts grow old together. */
function olderPart(db: DatabaseSync): number {
  // What waits is not deleted: many alerts for a target that is down would hide all else that is younger.
  const nth = (table: string, n: number): number => {
    const row = db.prepare(`SELECT at FROM ${table} ORDER BY at LIMIT 1 OFFSET ?`).get(n);
    return row === undefined ? Infinity : Number(row.at);
  };
  const time = Math.min(
    nth("triggers", triggersPerBatch),
    nth("receipts", receiptsPerBatch),
    nth("model_calls", modelCallsPerBatch),
    nth("run_hosts", hostsPerBatch),
    nth("outbox WHERE state <> 'waiting'", alertsPerBatch),
  );
  return Math.min(time + 1, Number.MAX_SAFE_INTEGER);
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
