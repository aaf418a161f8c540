import { Problem } from "../../foundation/errors.ts";
import type { Trigger, WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { Replayed, ReplayResult } from "../../foundation/contracts/operator-api.ts";
import type { FindAgent } from "../../foundation/scheduler/status-store.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { Webhooks } from "../../features/webhooks/webhooks.ts";
import { v7 as uuidV7 } from "uuid";
import { keyedBy } from "../../foundation/scheduler/keyed.ts";
import { mustHaveReceipt } from "../../features/webhooks/receipt-view.ts";
import type { FirstEvent, FirstEvents } from "./first-events.ts";
import { mustBeRunnable, mustTakeWork, type RunnableDeps } from "./runnable.ts";

/** Starts work, and learns its first event. */
export interface WorkStarter {
  readonly store: SchedulerContext["store"];
  readonly dispatch: SchedulerContext["dispatch"];
  readonly firstEvents: FirstEvents;
  readonly status: FindAgent;
}

export interface ReplayDeps extends RunnableDeps, WorkStarter {
  readonly readAgain: Webhooks["readAgain"];
}

const disabledReason = "agent disabled";

/**
 * Runs a stored delivery again as new work, committed before it is dispatched. `only` names one agent; `original` is
 * the history entry that is replayed, with all of its gathered deliveries; null to find each agent's own.
 */
export async function replay(
  receiptId: string,
  only: string | null,
  deps: ReplayDeps,
  original: { readonly id: string; readonly gathered: readonly string[] | null } | null = null,
): Promise<ReplayResult> {
  mustTakeWork(deps);
  if (only !== null) mustBeRunnable(deps, only);
  const receipt = mustHaveReceipt((id) => deps.store.receipts.get(id), receiptId);
  const read = deps.readAgain(receipt);
  if (read === null) {
    const message = `receipt "${receiptId}" can't be read as a delivery of type ${receipt.type}`;
    throw new Problem("unreadable_receipt", message);
  }
  const { event, result } =
    only === null ? read : { ...read, result: { matched: [only], disabled: [], reason: null } };
  const at = Date.now();
  const items = result.matched.map((agent): WorkItem => {
    const replayOf = original?.id ?? deps.store.originals.ofDelivery(receipt, agent);
    const trigger = { kind: "webhook", event } as const;
    const gathered = original?.gathered;
    const item = { id: uuidV7(), agent, at, attempt: 1, ...(gathered && { gathered }), trigger };
    return replayOf === null ? item : { ...item, replayOf };
  });
  const [started, refused] = await Promise.all([
    startWork(items, deps),
    refuse(result.disabled, event, at, deps),
  ]);
  return {
    receiptId,
    replayId: uuidV7(),
    matched: [...started.map(replayed), ...refused],
    reason: result.reason,
  };
}

/** Commits and dispatches work, and resolves to the first event of each item: started, queued or refused. */
export async function startWork(
  works: readonly WorkItem[],
  { store, firstEvents, dispatch, status }: WorkStarter,
): Promise<FirstEvent[]> {
  if (works.length === 0) return [];
  const items = works.map(keyedBy(status));
  await store.work.enqueue(items);
  // Called before the items are dispatched: the first event may come within that very call.
  const firsts = items.map(({ id }) => firstEvents.of(id));
  dispatch(items);
  return Promise.all(firsts);
}

function replayed(first: FirstEvent): Replayed {
  const { agent, type, item } = first;
  const base = { agent, triggerId: item.id, replayOf: item.replayOf ?? null };
  if (type === "started") return { ...base, outcome: type, instanceId: first.instanceId };
  if (type === "queued") return { ...base, outcome: type };
  return { ...base, outcome: first.outcome, reason: first.reason };
}

/** Stores a dead letter with that reason for each disabled agent, as a delivery would. */
function refuse(
  agents: readonly string[],
  { source, event, action, receiptId }: WebhookEvent,
  at: number,
  { store }: WorkStarter,
): Promise<Replayed[]> {
  const refuseOne = async (agent: string): Promise<Replayed> => {
    const triggerId = uuidV7();
    const refused = { agent, outcome: "rejected", reason: disabledReason } as const;
    const letter = { ...refused, id: triggerId, at, kind: "webhook" } as const;
    await store.work.deadLetter({ ...letter, source, event, action, receiptId });
    return { ...refused, triggerId, replayOf: null };
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
    throw new Problem("unknown_trigger", `there is no trigger "${id}" in the history`);
  }
  const { agent, receiptId, trigger, gathered } = original;
  if (receiptId !== null) return replay(receiptId, agent, deps, { id, gathered });
  if (agent === null || trigger === null) {
    throw new Problem("refused", `the trigger "${id}" matched no agent`);
  }
  mustBeRunnable(deps, agent);
  const again = { id: uuidV7(), agent, at: Date.now(), attempt: 1, replayOf: id };
  const started = await startWork([{ ...again, trigger: triggerAgain(trigger) }], deps);
  return { receiptId, replayId: uuidV7(), matched: started.map(replayed), reason: null };
}

/** A replayed call is a separate call, which no run waits for; a replayed tick does not continue a row of reruns. */
function triggerAgain(trigger: Trigger): Trigger {
  switch (trigger.kind) {
    case "agent-call":
      return { ...trigger, callId: uuidV7(), cancelOnExit: false };
    case "cron": {
      const { kind, scheduledFor, schedule } = trigger;
      return { kind, scheduledFor, ...(schedule !== undefined && { schedule }) };
    }
    default:
      return trigger;
  }
}
