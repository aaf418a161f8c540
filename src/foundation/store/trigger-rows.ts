import type { Outcome } from "../../../streams/outcomes.ts";
import type { DatabaseSync } from "node:sqlite";
import type { Trigger, TriggerKind, WorkItem } from "../../../streams/vocabulary.ts";

/** A row of `triggers` as it is first written. Times are epoch ms. */
interface NewTriggerRow {
  readonly id: string;
  readonly at: number;
  readonly kind: TriggerKind;
  readonly agent: string | null;
  readonly source: string | null;
  readonly event: string | null;
  readonly action: string | null;
  readonly receiptId: string | null;
  readonly callId: string | null;
  /** The instance that called. */
  readonly caller: string | null;
  /** The work item at the root of the tree of calls. */
  readonly root: string | null;
  /** The instance whose session it continues. */
  readonly continues: string | null;
  readonly instanceId: string | null;
  readonly state: "queued" | "running" | "ended";
  readonly outcome: Outcome | null;
  readonly deadLetter: boolean;
  readonly reason: string | null;
  readonly attempt: number;
  readonly startedAt: number | null;
  /** The row that this one repeats. */
  readonly replayOf: string | null;
  /** The receipts of gathered deliveries, in order. */
  readonly gathered?: readonly string[];
  readonly key: string | null;
  readonly session: string | null;
  /** 1 or 0. */
  readonly isRetry: number;
  readonly trigger: Trigger | null;
}

/** Work that ended without a run, or has no agent at all: a webhook that matched nothing, a call that no run took. */
export type DeadLetterEntry = Pick<
  NewTriggerRow,
  "id" | "at" | "kind" | "agent" | "source" | "event" | "action" | "receiptId"
> & {
  readonly outcome: Outcome;
  /** Why nothing ran, for a person. */
  readonly reason: string;
};

/** The row of a waiting work item. */
export function queuedRow(item: WorkItem): NewTriggerRow {
  return {
    ...described(item.trigger),
    replayOf: null,
    key: null,
    session: null,
    ...item,
    isRetry: Number(item.isRetry ?? false),
    kind: item.trigger.kind,
    instanceId: null,
    state: "queued",
    outcome: null,
    deadLetter: false,
    reason: null,
    startedAt: null,
  };
}

/** The row of work that a waiting run takes, so that it starts none. */
export function takenRow(item: WorkItem, instanceId: string): NewTriggerRow {
  const ended = { state: "ended", outcome: "succeeded", instanceId } as const;
  return { ...queuedRow(item), ...ended, reason: takenBy(instanceId) };
}

/** The row of work that was only for a waiting run, which no longer waits. */
export function leftRow(item: WorkItem): NewTriggerRow {
  const reason = "the run that waited for it has ended, or stopped waiting";
  return { ...queuedRow(item), state: "ended", outcome: "rejected", deadLetter: true, reason };
}

/** Why work that a run takes has ended. */
export function takenBy(instanceId: string): string {
  return `taken by ${instanceId}, which waited for it`;
}

/** The row of a dead letter that never was a work item. */
export function deadLetterRow(entry: DeadLetterEntry): NewTriggerRow {
  return {
    ...entry,
    ...noLink,
    instanceId: null,
    state: "ended",
    deadLetter: true,
    attempt: 1,
    startedAt: null,
    replayOf: null,
    key: null,
    session: null,
    isRetry: 0,
    trigger: null,
  };
}

const noLink = { callId: null, caller: null, root: null, continues: null };

/**
 * The columns of a trigger in the history; for a call, `source` is the agent that called, for a tick the name of its
 * schedule, and `event` is why it is late.
 */
function described(trigger: Trigger) {
  const none = { source: null, event: null, action: null, receiptId: null, ...noLink };
  if (trigger.kind === "webhook") {
    const { source, event, action, receiptId } = trigger.event;
    return { ...none, source, event, action, receiptId };
  }
  if (trigger.kind === "manual") {
    return { ...none, continues: trigger.continues?.instanceId ?? null };
  }
  if (trigger.kind === "cron") {
    return { ...none, source: trigger.schedule ?? null, event: trigger.late ?? null };
  }
  const { caller, callId, callerInstance, root } = trigger;
  return { ...none, source: caller, callId, caller: callerInstance, root };
}

/** The columns of a new row, and its members in their order. */
const columns = {
  id: "id",
  at: "at",
  kind: "kind",
  agent: "agent",
  source: "source",
  event: "event",
  action: "action",
  receipt_id: "receiptId",
  call_id: "callId",
  caller: "caller",
  root: "root",
  continues: "continues",
  instance_id: "instanceId",
  state: "state",
  outcome: "outcome",
  reason: "reason",
  attempt: "attempt",
  started_at: "startedAt",
  replay_of: "replayOf",
  key: "key",
  session: "session",
  is_retry: "isRetry",
} as const satisfies Readonly<Record<string, keyof NewTriggerRow>>;

/** Prepares the statement that writes one row inside the caller's transaction; it throws when the id is taken. */
export function prepareInsert(db: DatabaseSync): (row: NewTriggerRow) => void {
  const members = Object.values(columns);
  // By position: names take three times as long, and every delivery writes rows.
  const insert = db.prepare(
    `INSERT INTO triggers (${Object.keys(columns).join(", ")}, dead_letter, gathered, trigger)
     VALUES (${members.map(() => "?").join(", ")}, ?, ?, ?)`,
  );
  return (row) => {
    const trigger = row.trigger === null ? null : JSON.stringify(row.trigger);
    const gathered = row.gathered === undefined ? null : JSON.stringify(row.gathered);
    const values = members.map((member) => row[member]);
    insert.run(...values, Number(row.deadLetter), gathered, trigger);
  };
}

/**
 * Waiting or running work, for a query: a table and its condition. The index is named, since SQLite would otherwise
 * visit every run of the history for its instance or its receipt, as it does not know how few rows are open.
 */
export const openTriggers = "triggers INDEXED BY triggers_open WHERE state <> 'ended'";
