import type { DatabaseSync } from "node:sqlite";
import type { Trigger } from "../../streams/vocabulary.ts";

/** What an entry of the history asked for. */
export interface Original {
  /** Null for a delivery that no agent's filters let through. */
  readonly agent: string | null;
  /** The stored delivery that it came from; null for work that no webhook asked for. */
  readonly receiptId: string | null;
  /** Null for an entry that never was a work item. */
  readonly trigger: Trigger | null;
}

/** What replays run again. */
export interface Originals {
  /** Undefined when the history holds no such entry. */
  of(id: string): Original | undefined;
  /**
   * The id of the entry that a delivery first gave an agent, or gave no agent at all; null when there is none. `at` is
   * when the delivery came, epoch ms.
   */
  ofDelivery(receipt: { readonly id: string; readonly at: number }, agent: string): string | null;
}

/** Reads `triggers` for replays. */
export function createOriginals(db: DatabaseSync): Originals {
  const byId = db.prepare(
    "SELECT agent, receipt_id AS receiptId, trigger FROM triggers WHERE id = ?",
  );
  // A delivery's work arrives with it, so that the index by time finds its few entries.
  const ofReceipt = db.prepare(
    `SELECT id FROM triggers INDEXED BY triggers_by_time
     WHERE at = ? AND receipt_id = ? AND (agent = ? OR agent IS NULL) ORDER BY agent IS NULL, seq LIMIT 1`,
  );
  return {
    of: (id) => {
      const row = byId.get(id) as OriginalRow | undefined;
      if (row === undefined) return undefined;
      const { agent, receiptId, trigger } = row;
      return {
        agent,
        receiptId,
        trigger: trigger === null ? null : (JSON.parse(trigger) as Trigger),
      };
    },
    ofDelivery: ({ id, at }, agent) => {
      const found = ofReceipt.get(at, id, agent)?.id;
      return typeof found === "string" ? found : null;
    },
  };
}

interface OriginalRow extends Omit<Original, "trigger"> {
  readonly trigger: string | null;
}
