import type { Trigger, WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { OperationError } from "../../foundation/contracts/operations.ts";
import type { Replayed, ReplayResult } from "../../foundation/contracts/operator-api.ts";
import type { DeadLetter, Receipt } from "../../foundation/contracts/webhook-receipts.ts";
import type { Store } from "../../foundation/store/store.ts";
import { v7 as uuidV7 } from "uuid";
import { mustHaveReceipt } from "../../features/webhooks/receipt-view.ts";
import type { FirstEvent, FirstEvents } from "../../runtime/runs/first-events.ts";
import { mustBeRunnable, mustTakeWork } from "./runnable.ts";
import type { RunnableDeps } from "./runnable.ts";

/** A stored delivery, read again. */
export interface ReadAgain {
  readonly event: WebhookEvent;
  /** Who listens now, as for a delivery that just came. */
  readonly result: {
    readonly matched: readonly string[];
    readonly disabled: readonly string[];
    readonly reason: string | null;
  };
}

export interface ReplayDeps extends RunnableDeps {
  readonly store: {
    readonly work: Pick<Store["work"], "enqueue" | "deadLetter">;
    readonly receipts: Pick<Store["receipts"], "get">;
    readonly originals: Store["originals"];
  };
  readonly firstEvents: Pick<FirstEvents, "of">;
  /** Null when the receipt's type is no longer known, or its body can't be read as that type. */
  readonly readAgain: (receipt: Receipt) => ReadAgain | null;
  readonly dispatch: (items: readonly WorkItem[]) => void;
}

const disabledReason = "agent disabled";

/**
 * Runs a stored delivery again as new work, committed before it is dispatched. `only` names one agent; `original` is
 * the history entry that is replayed, null to find each agent's own.
 */
export async function replay(
  receiptId: string,
  only: string | null,
  deps: ReplayDeps,
  original: string | null = null,
): Promise<ReplayResult> {
  mustTakeWork(deps);
  if (only !== null) mustBeRunnable(deps, only);
  const receipt = mustHaveReceipt((id) => deps.store.receipts.get(id), receiptId);
  const read = deps.readAgain(receipt);
  if (read === null) {
    const message = `receipt "${receiptId}" can't be read as a delivery of type ${receipt.type}`;
    throw new OperationError("unreadable_receipt", message);
  }
  const { event, result } =
    only === null ? read : { ...read, result: { matched: [only], disabled: [], reason: null } };
  const at = Date.now();
  const items = result.matched.map((agent): WorkItem => {
    const replayOf = original ?? deps.store.originals.ofDelivery(receipt, agent);
    const trigger = { kind: "webhook", event } as const;
    const item = { id: uuidV7(), agent, at, attempt: 1, trigger };
    return replayOf === null ? item : { ...item, replayOf };
  });
  const [started, refused] = await Promise.all([
    runAgain(items, deps),
    refuse(result.disabled, event, at, deps),
  ]);
  return {
    receiptId,
    replayId: uuidV7(),
    matched: [...started, ...refused],
    reason: result.reason,
  };
}

/** Commits and dispatches replays, and resolves to what became of each at first. */
async function runAgain(
  items: readonly WorkItem[],
  { store, firstEvents, dispatch }: ReplayDeps,
): Promise<Replayed[]> {
  if (items.length === 0) return [];
  await store.work.enqueue(items);
  // Asked before the items are dispatched: the first event may come within that very call.
  const firsts = items.map(({ id }) => firstEvents.of(id));
  dispatch(items);
  return (await Promise.all(firsts)).map(replayed);
}

function replayed(first: FirstEvent): Replayed {
  const { agent, item } = first;
  const base = { agent, triggerId: item.id, replayOf: item.replayOf ?? null };
  if (first.type === "started")
    return { ...base, outcome: "started", instanceId: first.instanceId };
  if (first.type === "queued") return { ...base, outcome: "queued" };
  return { ...base, outcome: first.outcome, reason: first.reason };
}

/** A disabled agent gets what a delivery would give it: a dead letter with that reason. */
function refuse(
  agents: readonly string[],
  { source, event, action, receiptId }: WebhookEvent,
  at: number,
  { store }: ReplayDeps,
): Promise<Replayed[]> {
  const refuseOne = async (agent: string): Promise<Replayed> => {
    const triggerId = uuidV7();
    const letter: DeadLetter = {
      id: triggerId,
      at,
      kind: "webhook",
      outcome: "rejected",
      agent,
      source,
      event,
      action,
      receiptId,
      reason: disabledReason,
    };
    await store.work.deadLetter(letter);
    return { agent, outcome: "rejected", triggerId, replayOf: null, reason: disabledReason };
  };
  return Promise.all(agents.map(refuseOne));
}

/**
 * Runs the work of a history entry again as new work, committed before it is dispatched. That of a webhook is read
 * from its stored delivery, as a replay of the delivery is.
 */
export async function replayTrigger(id: string, deps: ReplayDeps): Promise<ReplayResult> {
  mustTakeWork(deps);
  const original = deps.store.originals.of(id);
  if (original === undefined) {
    throw new OperationError("unknown_trigger", `there is no trigger "${id}" in the history`);
  }
  const { agent, receiptId, trigger } = original;
  if (receiptId !== null) return replay(receiptId, agent, deps, id);
  if (agent === null || trigger === null) {
    throw new OperationError("refused", `the trigger "${id}" asked no agent for a run`);
  }
  mustBeRunnable(deps, agent);
  const again = { id: uuidV7(), agent, at: Date.now(), attempt: 1, replayOf: id };
  const matched = await runAgain([{ ...again, trigger: triggerAgain(trigger) }], deps);
  return { receiptId, replayId: uuidV7(), matched, reason: null };
}

/** A replayed call is a call of its own, which no run waits for; a tick does not continue a row of reruns. */
function triggerAgain(trigger: Trigger): Trigger {
  switch (trigger.kind) {
    case "agent-call":
      return { ...trigger, callId: uuidV7(), cancelOnExit: false };
    case "cron":
      return { kind: "cron", scheduledFor: trigger.scheduledFor };
    default:
      return trigger;
  }
}
