import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "./group-commit.ts";
import { deadLetterRow, leftRow, prepareInsert, queuedRow, takenRow } from "./trigger-rows.ts";
import { prepareWaits } from "./waits.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";

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

/** A verified delivery, as it is stored. Its headers hold no signature and no secret. */
export interface Receipt {
  /** UUID v7. */
  readonly id: string;
  /** When the delivery arrived, epoch ms. */
  readonly at: number;
  readonly source: string;
  readonly type: string;
  /** The provider's own id of the delivery; null where it gives none, and then nothing is a duplicate of it. */
  readonly deliveryId: string | null;
  /** Lower-case names; only headers that a replay needs. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes as they came. */
  readonly body: Uint8Array;
  /** The agents that got work of it, each once. */
  readonly matched: readonly string[];
  /** Why the delivery started nothing, or which agents it skipped because they were disabled, for a person; null otherwise. */
  readonly reason: string | null;
}

/** A delivery that started nothing, as one entry of the history. */
export interface DeadLetter {
  readonly id: string;
  /** Epoch ms. */
  readonly at: number;
  readonly kind: "webhook";
  readonly outcome: "rejected";
  /** The disabled agent; null when no agent's filters matched. */
  readonly agent: string | null;
  readonly source: string;
  readonly event: string;
  readonly action: string | null;
  readonly receiptId: string;
  /** Why nothing ran, for a person. */
  readonly reason: string;
}

/** A run that waited for a delivery, and takes it instead of a new run of its agent. */
export interface WaitingRun {
  readonly agent: string;
  readonly instanceId: string;
  /** The key of its wait. */
  readonly key: string;
  /** The answer to its wait: any JSON. */
  readonly answer: unknown;
  /** How long its clock has been paused so far, in ms. */
  readonly waitedMs: number;
  /** Checked within the commit: since the match the run may have ended, or cancelled. */
  isWaiting(): boolean;
}

/** A delivery or call before its commit, matched with the runs that wait for one like it. */
export interface RunMatch {
  readonly waitingRuns: readonly WaitingRun[];
  /** Delivers it to the waiting runs if that was committed; called once either way. */
  deliver(taken: boolean): void;
}

/** Work that a waiting run takes. */
interface TakenWork {
  readonly item: WorkItem;
  readonly by: WaitingRun;
  /** Whether it starts a run of the agent if no run waits for it any more. */
  readonly startsRun: boolean;
}

/** The writes of one delivery, in one commit. */
export interface Acceptance {
  readonly receipt: Receipt;
  readonly items: readonly WorkItem[];
  /** Work that live runs take, so that it is not queued. */
  readonly taken: readonly TakenWork[];
  readonly deadLetters: readonly DeadLetter[];
}

/**
 * Whether it was written, with the work that waits for a run now, or already existed: same source, delivery id and body.
 * The same id with another body is another delivery.
 */
export type Accepted =
  | { readonly duplicate: false; readonly queued: readonly WorkItem[] }
  | { readonly duplicate: true; readonly receiptId: string };
