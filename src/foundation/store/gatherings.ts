import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Gathering } from "../../../streams/triggers/gather.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import type { GroupCommit } from "./group-commit.ts";
import { prepareInsert, queuedRow } from "./trigger-rows.ts";

/** Limits of the deliveries that one run gets. */
export const gatheringLimits = { deliveries: 100, bytes: 1024 * 1024 } as const;

/** Deliveries that gather for a run. `since`: arrival of the first delivery of its key, which may be gone. */
export const gatherings = `
  CREATE TABLE gatherings (
    seq INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    key TEXT NOT NULL,
    since INTEGER NOT NULL,
    at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    receipt_id TEXT NOT NULL,
    item TEXT NOT NULL
  ) STRICT;
  CREATE INDEX gatherings_by_key ON gatherings (agent, key, seq, bytes);
  CREATE INDEX gatherings_by_receipt ON gatherings (receipt_id);
  ALTER TABLE triggers ADD COLUMN gathered TEXT;
  CREATE INDEX triggers_gathered ON triggers (agent, at) WHERE gathered IS NOT NULL;`;

/** Receipts that gathering deliveries and open gathered work refer to, for a query. */
export const gatheredReceipts = `SELECT receipt_id FROM gatherings UNION ALL
  SELECT each.value FROM triggers AS work INDEXED BY triggers_open, json_each(work.gathered) AS each
    WHERE work.state <> 'ended' AND work.gathered IS NOT NULL`;

/** Whether an agent's gathered work since a time contains a receipt, for a query. */
export function isGathered(row: Readonly<Record<"agent" | "at" | "receiptId", string>>): string {
  return `EXISTS (SELECT 1 FROM triggers AS work, json_each(work.gathered) AS each
    WHERE work.gathered IS NOT NULL AND work.agent = ${row.agent} AND work.at >= ${row.at} AND each.value = ${row.receiptId})`;
}

/** How a delivery gathers. */
export interface GatheringOptions {
  readonly key: string;
  /** Limit of the bodies together; null if the run gets the latest alone. */
  readonly maxBytes: number | null;
}

/** Prepares the write of a gathering delivery, inside the caller's transaction. */
export function prepareGather(db: DatabaseSync) {
  const insertTrigger = prepareInsert(db);
  const insert = db.prepare(
    `INSERT INTO gatherings (agent, key, since, at, bytes, receipt_id, item) VALUES (:agent, :key,
         coalesce((SELECT since FROM gatherings WHERE agent = :agent AND key = :key LIMIT 1), :at),
         :at, :bytes, :receiptId, :item)`,
  );
  const isOver = db.prepare(
    `SELECT count(*) > ${gatheringLimits.deliveries} OR sum(bytes) > ? AS over
       FROM gatherings WHERE agent = ? AND key = ?`,
  );
  // The latest delivery stays, however large it is.
  const dropOldest = db.prepare(
    `DELETE FROM gatherings WHERE seq IN (SELECT seq FROM
         (SELECT seq, row_number() OVER latest AS place, sum(bytes) OVER latest AS total
          FROM gatherings WHERE agent = ? AND key = ? WINDOW latest AS (ORDER BY seq DESC))
         WHERE place > ${gatheringLimits.deliveries} OR (place > 1 AND total > ?))
       RETURNING item`,
  );
  /** Returns the oldest deliveries beyond the limits: waiting work, which the caller refuses. */
  return (
    item: WorkItem,
    receipt: { readonly id: string; readonly body: Uint8Array },
    { key, maxBytes }: GatheringOptions,
  ): readonly WorkItem[] => {
    const { agent, at } = item;
    const row = { agent, key, at, bytes: receipt.body.byteLength, receiptId: receipt.id };
    insert.run({ ...row, item: JSON.stringify(item) });
    const most = maxBytes ?? Number.MAX_SAFE_INTEGER;
    if (isOver.get(most, agent, key)?.over === 0) return [];
    const dropped = dropOldest.all(agent, key, most).map(itemIn);
    for (const old of dropped) insertTrigger(queuedRow(old));
    return dropped;
  };
}

function itemIn(row: Readonly<Record<string, unknown>>): WorkItem {
  return JSON.parse(String(row.item)) as WorkItem;
}

/** Prepares the statement that removes a delivery which a live run of the agent takes. */
export function prepareUngather(db: DatabaseSync): StatementSync {
  return db.prepare("DELETE FROM gatherings WHERE receipt_id = ? AND agent = ?");
}

/** Reads `gatherings`, and starts their runs. */
export function createGatherings(db: DatabaseSync, { record }: GroupCommit) {
  const insertTrigger = prepareInsert(db);
  const select = `SELECT agent, key, min(since) AS since, max(at) AS last, count(*) AS count FROM gatherings`;
  const all = db.prepare(`${select} GROUP BY agent, key`);
  const ofAgent = db.prepare(`${select} WHERE agent = ? GROUP BY key`);
  const ofKey = db.prepare(`${select} WHERE agent = ? AND key = ? GROUP BY key`);
  const take = db.prepare(
    "DELETE FROM gatherings WHERE agent = ? AND key = ? RETURNING seq, receipt_id AS receiptId, item",
  );
  const start = (agent: string, key: string): WorkItem | null => {
    const rows = take.all(agent, key).sort((a, b) => Number(a.seq) - Number(b.seq));
    const last = rows.at(-1);
    if (last === undefined) return null;
    const single = itemIn(last);
    const receipts = rows.map(({ receiptId }) => String(receiptId));
    const item = rows.length === 1 ? single : { ...single, gathered: receipts };
    insertTrigger(queuedRow(item));
    return item;
  };
  return {
    all: () => all.all() as unknown as readonly Gathering[],
    ofAgent: (agent: string) => ofAgent.all(agent) as unknown as readonly Gathering[],
    of: (agent: string, key: string): Gathering => {
      const row = ofKey.get(agent, key) as unknown as Gathering | undefined;
      return row ?? { agent, key, since: 0, last: 0, count: 0 };
    },
    /** Turns the deliveries of a key into one waiting item; null if there are none. Waits for the store. */
    start: (agent: string, key: string) => record(() => start(agent, key)),
  };
}
