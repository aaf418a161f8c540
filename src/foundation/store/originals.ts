import type { DatabaseSync } from "node:sqlite";
import type { Trigger } from "../../../streams/vocabulary.ts";

/** What an entry of the history asked for. */
export interface Original {
  /** Null for a delivery that no agent's filters let through. */
  readonly agent: string | null;
  /** The stored delivery that it came from; null for work that no webhook asked for. */
  readonly receiptId: string | null;
  /** Null for an entry that never was a work item. */
  readonly trigger: Trigger | null;
}

/** Reads `triggers` for replays. */
export function createOriginals(db: DatabaseSync) {
  const byId = db.prepare(
    "SELECT agent, receipt_id AS receiptId, trigger FROM triggers WHERE id = ?",
  );
  // A delivery's work arrives with it, so that the index by time finds its few entries.
  const ofReceipt = db.prepare(
    `SELECT id FROM triggers INDEXED BY triggers_by_time
     WHERE at = ? AND receipt_id = ? AND (agent = ? OR agent IS NULL) ORDER BY agent IS NULL, seq LIMIT 1`,
  );
  return {
    /** Undefined when the history holds no such entry. */
    of: (id: string): Original | undefined => {
      const row = byId.get(id) as OriginalRow | undefined;
      return row && { ...row, trigger: JSON.parse(row.trigger ?? "null") as Trigger | null };
    },
    /**
     * The id of the entry that a delivery first gave an agent, or gave no agent at all; null when there is none. `at` is
     * when the delivery came, epoch ms.
     */
    ofDelivery: (
      { id, at }: { readonly id: string; readonly at: number },
      agent: string,
    ): string | null => {
      const found = ofReceipt.get(at, id, agent)?.id;
      return typeof found === "string" ? found : null;
    },
  };
}

interface OriginalRow extends Omit<Original, "trigger"> {
  readonly trigger: string | null;
}
