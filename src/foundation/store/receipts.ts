import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Acceptance, Accepted, Receipt, TakenWork } from "../contracts/webhook-receipts.ts";
import type { GroupCommit } from "./group-commit.ts";
import { deadLetterRow, leftRow, prepareInsert, queuedRow, takenRow } from "./trigger-rows.ts";
import { prepareWaits } from "./waits.ts";

interface ReceiptRow extends Omit<Receipt, "headers" | "matched"> {
  readonly headers: string;
  readonly matched: string;
}

/** Reads and writes `receipts`, the accepted webhook deliveries of a project. */
export function createReceipts(db: DatabaseSync, { write }: GroupCommit) {
  const insertTrigger = prepareInsert(db);
  const insert = db.prepare(
    `INSERT INTO receipts (id, at, source, type, delivery_id, body_hash, headers, body, matched, reason)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const same = db.prepare(
    "SELECT id FROM receipts WHERE source = ? AND delivery_id = ? AND body_hash = ?",
  );
  const byId = db.prepare(
    `SELECT id, at, source, type, delivery_id AS deliveryId, headers, body, matched, reason
     FROM receipts WHERE id = ?`,
  );

  const waits = prepareWaits(db);
  const isTaken = ({ by }: TakenWork): boolean => by.isWaiting() && waits.end(by);
  const accept = ({ receipt, items, taken, deadLetters }: Acceptance): Accepted => {
    const { id, at, source, type, deliveryId, headers, body, matched, reason } = receipt;
    const bodyHash = hash("sha256", body, "hex");
    const known = deliveryId === null ? undefined : same.get(source, deliveryId, bodyHash)?.id;
    if (typeof known === "string") return { duplicate: true, receiptId: known };
    const [head, agents] = [JSON.stringify(headers), JSON.stringify(matched)];
    insert.run(id, at, source, type, deliveryId, bodyHash, head, body, agents, reason);
    const queued = [...items];
    for (const one of taken) {
      if (isTaken(one)) insertTrigger(takenRow(one.item, one.by.instanceId));
      else if (one.startsRun) queued.push(one.item);
      else insertTrigger(leftRow(one.item));
    }
    for (const item of queued) insertTrigger(queuedRow(item));
    for (const entry of deadLetters) insertTrigger(deadLetterRow(entry));
    return { duplicate: false, queued };
  };

  return {
    /** Resolves once committed. Same source, delivery id and body as an accepted one is a duplicate. */
    accept: (acceptance: Acceptance) => write(() => accept(acceptance)),
    get: (id: string): Receipt | null => {
      const row = byId.get(id) as unknown as ReceiptRow | undefined;
      if (row === undefined) return null;
      return {
        ...row,
        headers: JSON.parse(row.headers) as Record<string, string>,
        matched: JSON.parse(row.matched) as string[],
      };
    },
  };
}
