import type { Wait } from "../contracts/run-state.ts";
import type { DatabaseSync } from "node:sqlite";
import type { Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import { isGathered, prepareUngather } from "./gatherings.ts";
import type { GroupCommit } from "./group-commit.ts";
import { openTriggers, prepareInsert, takenBy, takenRow } from "./trigger-rows.ts";
import { prepareWaits, type WaitEnd } from "./waits.ts";

/** A place among the receipts, which are read in the order of their arrival. */
export interface ReceiptPosition {
  /** Epoch ms. */
  readonly at: number;
  readonly seq: number;
}

/** Some of the deliveries since a run's start. */
interface DeliveryPage {
  readonly receiptIds: readonly string[];
  /** Where the next page begins; null after the last one. */
  readonly next: ReceiptPosition | null;
}

const itemsPerPage = 50;
/** Rows examined per page, whether they match or not: about a millisecond. */
const receiptsPerPage = 500;

/** Reads `triggers` and `receipts` for waits that look back at earlier events: in pages, so that nothing stays in memory. */
export function createPastTriggers(db: DatabaseSync, { write }: GroupCommit) {
  const queued = db.prepare(
    `SELECT seq, id, at, agent, attempt, trigger FROM ${openTriggers}
       AND state = 'queued' AND agent = ? AND kind = ? AND gathered IS NULL AND seq > ?
     ORDER BY seq LIMIT ${itemsPerPage}`,
  );
  // The index requires the condition on the state.
  const startOf = db.prepare(
    "SELECT started_at AS at FROM triggers WHERE instance_id = ? AND state <> 'ended'",
  );
  const receipts = db.prepare(
    `SELECT at, seq, id,
       (:source IS NULL OR source = :source)
       AND (:event IS NULL
         OR EXISTS (SELECT 1 FROM triggers WHERE receipt_id = receipts.id AND event = :event)
         OR EXISTS (SELECT 1 FROM gatherings
           WHERE receipt_id = receipts.id AND item ->> '$.trigger.event.event' = :event))
       AND NOT EXISTS (SELECT 1 FROM triggers WHERE receipt_id = receipts.id AND agent = :agent
         AND (instance_id IS NOT NULL OR state = 'queued'))
       AND NOT ${isGathered({ agent: ":agent", at: "receipts.at", receiptId: "receipts.id" })} AS fits
     FROM receipts WHERE (at, seq) > (:at, :seq) ORDER BY at, seq LIMIT ${receiptsPerPage}`,
  );
  const takeRow = prepareTake(db);
  const waits = prepareWaits(db);

  const take = (item: WorkItem, end: WaitEnd): { readonly answer: unknown } | null => {
    const { instanceId, key } = end;
    if (!waits.isOpen(end)) return { answer: waits.answer(instanceId, key) };
    if (!takeRow(item, instanceId)) return null;
    waits.end(end);
    return { answer: end.answer };
  };
  return {
    /** Work in the queue of the wait's agent, oldest first, after this item's place (0 for all). */
    queued: (
      { agent, condition }: Wait,
      after: number,
    ): readonly { readonly seq: number; readonly item: WorkItem }[] =>
      (queued.all(agent, condition.kind, after) as unknown as QueuedRow[]).map(
        ({ seq, trigger, ...row }) => ({
          seq,
          item: { ...row, trigger: JSON.parse(trigger) as Trigger },
        }),
      ),
    /**
     * Deliveries since the start of the wait's run with its source and event that no run of its agent has had, in the
     * order of arrival; null `from` means from the first.
     */
    deliveries: (
      { agent, instanceId, condition }: Wait,
      from: ReceiptPosition | null,
    ): DeliveryPage => {
      const start = startOf.get(instanceId)?.at;
      const { at, seq } = from ?? { at: typeof start === "number" ? start : Infinity, seq: 0 };
      const { source = null, event = null } = condition;
      const page = receipts.all({ source, event, agent, at, seq }) as unknown as ReceiptRow[];
      const last = page.length < receiptsPerPage ? undefined : page.at(-1);
      return {
        receiptIds: page.filter(({ fits }) => fits === 1).map(({ id }) => id),
        next: last === undefined ? null : { at: last.at, seq: last.seq },
      };
    },
    /**
     * Ends a wait with one of these; resolves once committed, with the answer that the wait has: another one if it had
     * ended before. Null if a run of the agent has the work now.
     */
    take: (item: WorkItem, end: WaitEnd) => write(() => take(item, end)),
  };
}

export type PastTriggers = ReturnType<typeof createPastTriggers>;

interface QueuedRow extends Omit<WorkItem, "trigger"> {
  readonly seq: number;
  readonly trigger: string;
}

interface ReceiptRow extends ReceiptPosition {
  readonly id: string;
  readonly fits: number;
}

/** Assigns work to a run inside the caller's transaction; false if another run of the agent has it. */
function prepareTake(db: DatabaseSync): (item: WorkItem, instanceId: string) => boolean {
  const insert = prepareInsert(db);
  const takeQueued = db.prepare(
    `UPDATE triggers SET state = 'ended', outcome = 'succeeded', instance_id = ?, reason = ?
     WHERE id = ? AND state = 'queued'`,
  );
  const hasRun = db.prepare(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM triggers
         WHERE receipt_id = :receiptId AND agent = :agent AND instance_id IS NOT NULL)
       OR ${isGathered({ agent: ":agent", at: ":at", receiptId: ":receiptId" })}`,
  );
  const ungather = prepareUngather(db);
  const takeDeadLetter = db.prepare(
    `UPDATE triggers SET agent = :agent, outcome = 'succeeded', dead_letter = 0, instance_id = :instanceId,
       reason = :reason, trigger = coalesce(trigger, :trigger)
     WHERE seq = (SELECT seq FROM triggers WHERE receipt_id = :receiptId AND dead_letter = 1
       AND instance_id IS NULL AND (agent = :agent OR agent IS NULL) ORDER BY agent IS NULL, seq LIMIT 1)`,
  );
  const match = db.prepare(
    `UPDATE receipts SET reason = NULL, matched = json_insert(matched, '$[#]', :agent)
     WHERE id = :receiptId AND :agent NOT IN (SELECT value FROM json_each(matched))`,
  );
  return (item, instanceId) => {
    const { agent, at, trigger } = item;
    const reason = takenBy(instanceId);
    if (takeQueued.run(instanceId, reason, item.id).changes === 1) return true;
    if (trigger.kind !== "webhook") return false;
    const { receiptId } = trigger.event;
    if (hasRun.get({ receiptId, agent, at }) !== undefined) return false;
    ungather.run(receiptId, agent);
    const json = JSON.stringify(trigger);
    const row = { agent, instanceId, reason, trigger: json, receiptId };
    if (takeDeadLetter.run(row).changes === 0) insert(takenRow(item, instanceId));
    match.run({ agent, receiptId });
    return true;
  };
}
