import { hash } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { withJson } from "./rows.ts";
import { prepareGather, type GatheringOptions } from "./gatherings.ts";
import type { GroupCommit } from "./group-commit.ts";
import { deadLetterRow, leftRow, prepareInsert, queuedRow, takenRow } from "./trigger-rows.ts";
import { prepareWaits } from "./waits.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";

/** Reads and writes `receipts`, the accepted webhook deliveries of a project. */
export function createReceipts(db: DatabaseSync, { write }: GroupCommit) {
  const insertTrigger = prepareInsert(db);
  const insert = db.prepare(
    `INSERT INTO receipts
       (id, at, source, type, delivery_id, body_hash, headers, body, matched, reason, dedup_key, names)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const earlier = prepareEarlier(db);
  const match = db.prepare(
    "UPDATE receipts SET matched = ?, reason = NULL, dedup_key = ? WHERE id = ?",
  );
  const byId = db.prepare(
    `SELECT id, at, source, type, delivery_id AS deliveryId, headers, body, matched, reason
     FROM receipts WHERE id = ?`,
  );

  const gather = prepareGather(db);
  const waits = prepareWaits(db);
  const isTaken = ({ by }: TakenWork): boolean => by.isWaiting() && waits.end(by);
  /** Writes the work that gathers; the rest is to be queued. */
  const gathered = (
    work: readonly WorkItem[],
    { receipt, gatherings = new Map() }: Pick<Acceptance, "receipt" | "gatherings">,
  ) => {
    const queued: WorkItem[] = [];
    const gathering: GatheringDelivery[] = [];
    for (const item of work) {
      const { agent } = item;
      const options = gatherings.get(agent);
      if (options === undefined) queued.push(item);
      else gathering.push({ agent, key: options.key, dropped: gather(item, receipt, options) });
    }
    return { queued, gathering };
  };
  /** The earlier delivery of which this one is a duplicate; null if it is new. `isWork`: whether agents get work of it. */
  const firstOf = (acceptance: Acceptance, isWork: boolean, bodyHash: string): string | null => {
    if (!isWork && acceptance.items.length > 0) return earlier.withWork(acceptance).receiptId;
    const known = earlier.repeated(acceptance, bodyHash);
    // A delivery whose first one started no work, as no filter matched, counts as new once it starts some.
    return known !== null && (known.started || !isWork) ? known.id : null;
  };
  const accept = (acceptance: Acceptance): Accepted => {
    const { receipt, taken, deadLetters } = acceptance;
    const { id, at, source, type, deliveryId, headers, body, reason } = receipt;
    const bodyHash = hash("sha256", body, "hex");
    const had = earlier.withWork(acceptance);
    const toStart = acceptance.items.filter(({ agent }) => !had.agents.has(agent));
    const isWork = toStart.length + taken.length > 0;
    const first = firstOf(acceptance, isWork, bodyHash);
    if (first !== null) return { duplicate: true, receiptId: first };
    const takers = taken.map(({ item }) => item.agent);
    const matched = receipt.matched.filter((one) => !had.agents.has(one) || takers.includes(one));
    const [head, agents] = [JSON.stringify(headers), JSON.stringify(matched)];
    // Unmatched deliveries with one key, of which a stranger may send any number, would all be read for the next one.
    const key = isWork ? (acceptance.dedupKey ?? null) : null;
    const names = namesIn([...acceptance.items, ...taken.map(({ item }) => item)]);
    insert.run(id, at, source, type, deliveryId, bodyHash, head, body, agents, reason, key, names);
    for (const one of taken) {
      if (isTaken(one)) insertTrigger(takenRow(one.item, one.by.instanceId));
      else if (one.startsRun && !had.agents.has(one.item.agent)) toStart.push(one.item);
      else insertTrigger(leftRow(one.item));
    }
    const { queued, gathering } = gathered(toStart, acceptance);
    for (const item of queued) insertTrigger(queuedRow(item));
    for (const entry of deadLetters) insertTrigger(deadLetterRow(entry));
    return { duplicate: false, queued, matched, gathering };
  };

  /** The items whose agents may still start: none if the delivery, or a repeated one, gave any agent work. */
  const startable = ({ receipt, items, ...identity }: UnmatchedWork): readonly WorkItem[] => {
    const bodyHash = hash("sha256", receipt.body, "hex");
    const isStarted =
      earlier.isStarted(receipt.id) ||
      earlier.repeated({ receipt, ...identity }, bodyHash)?.started === true;
    if (isStarted) return [];
    const { agents } = earlier.withWork({ receipt, ...identity });
    return items.filter(({ agent }) => !agents.has(agent));
  };
  const startUnmatched = (work: UnmatchedWork): readonly WorkItem[] => {
    const items = startable(work);
    if (items.length === 0) return items;
    const agents = JSON.stringify(items.map(({ agent }) => agent));
    match.run(agents, work.dedupKey ?? null, work.receipt.id);
    for (const item of items) insertTrigger(queuedRow(item));
    return items;
  };

  return {
    /** Resolves once committed. */
    accept: (acceptance: Acceptance) => write(() => accept(acceptance)),
    startable,
    /**
     * Adds the work of a stored delivery that gave no agent work, once: resolves to the items that wait now. Each delivery
     * is checked in the same commit, since it may be repeated or started meanwhile.
     */
    startUnmatched: (work: UnmatchedWork) => write(() => startUnmatched(work)),
    get: (id: string): Receipt | null => {
      const row = byId.get(id);
      return row === undefined ? null : withJson<Receipt>(row, "headers", "matched");
    },
  };
}

/** The names that a delivery's work carries, for work that gathers: it keeps the latest trigger alone. Null without work. */
function namesIn([item]: readonly WorkItem[]): string | null {
  if (item?.trigger.kind !== "webhook") return null;
  const { author, sender } = item.trigger.event;
  const names = [author, sender].filter((name) => name !== null && name !== "");
  return JSON.stringify(names.length === 0 ? [""] : names);
}

/** Finds earlier deliveries of the same event, inside the caller's transaction. */
function prepareEarlier(db: DatabaseSync) {
  const select = (condition: string): StatementSync =>
    db.prepare(
      `SELECT id, matched <> '[]' OR EXISTS
         (SELECT 1 FROM triggers WHERE receipt_id = receipts.id AND trigger IS NOT NULL) AS started
       FROM receipts WHERE ${condition} ORDER BY started DESC LIMIT 1`,
    );
  const sameBody = select("source = ? AND body_hash = ?");
  const sameId = select("source = ? AND body_hash = ? AND delivery_id = ?");
  const itself = select("id = ?");
  const sameEvent = db.prepare(
    `SELECT receipts.seq, receipts.id, each.value AS agent FROM receipts, json_each(matched) AS each
       WHERE source = :source AND dedup_key = :key
     UNION SELECT receipts.seq, receipts.id, agent FROM receipts JOIN triggers ON receipt_id = receipts.id
       WHERE receipts.source = :source AND dedup_key = :key AND trigger IS NOT NULL ORDER BY 1`,
  );
  return {
    /** The delivery that this one repeats; null for none. */
    repeated: ({ receipt, isKnownByBody }: DeliveryIdentity, bodyHash: string) => {
      const { source, deliveryId } = receipt;
      const found = isKnownByBody
        ? sameBody.get(source, bodyHash)
        : sameId.get(source, bodyHash, deliveryId);
      return found === undefined ? null : { id: String(found.id), started: found.started === 1 };
    },
    /** The agents that got work of deliveries with the same key, and the first of these deliveries; empty without one. */
    withWork: ({ receipt: { source }, dedupKey }: DeliveryIdentity) => {
      const found = dedupKey === undefined ? [] : sameEvent.all({ source, key: dedupKey });
      return { agents: new Set(found.map((row) => row.agent)), receiptId: String(found[0]?.id) };
    },
    isStarted: (id: string): boolean => itself.get(id)?.started === 1,
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
  /** The provider's own id of the delivery; null where it gives none. */
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

/** How a delivery is recognized. */
interface DeliveryIdentity {
  readonly receipt: Receipt;
  /** Present if the same bytes are the same delivery under any id; else the id must be the same, too. */
  readonly isKnownByBody?: true;
  /** Deliveries of a source with the same key report the same event, of which each agent gets work once. */
  readonly dedupKey?: string;
}

/** A stored delivery and the work of the agents that match it now. */
export interface UnmatchedWork extends DeliveryIdentity {
  readonly items: readonly WorkItem[];
}

/** The writes of one delivery, in one commit. */
export interface Acceptance extends DeliveryIdentity {
  readonly items: readonly WorkItem[];
  /** Work that live runs take, so that it is not queued. */
  readonly taken: readonly TakenWork[];
  readonly deadLetters: readonly DeadLetter[];
  /** How the work of an agent gathers, by name, instead of being queued; absent if all of it is queued. */
  readonly gatherings?: ReadonlyMap<string, GatheringOptions>;
}

/** A delivery that gathers for a run of an agent. */
export interface GatheringDelivery {
  readonly agent: string;
  readonly key: string;
  /** Older deliveries beyond the limits of one run, which are to be refused. */
  readonly dropped: readonly WorkItem[];
}

/**
 * Whether it was written, with the work that waits for a run now and the agents that got work, or repeats an accepted one
 * of its source: the same body, and the same id unless the body tells enough; or the same event for the same agents.
 */
export type Accepted =
  | {
      readonly duplicate: false;
      readonly queued: readonly WorkItem[];
      readonly matched: readonly string[];
      readonly gathering: readonly GatheringDelivery[];
    }
  | { readonly duplicate: true; readonly receiptId: string };
