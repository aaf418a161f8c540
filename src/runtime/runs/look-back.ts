import { meets, type Wait, type Occurrence } from "../../foundation/contracts/run-state.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { WebhookEvent, WorkItem, Trigger } from "../../../streams/vocabulary.ts";
import type { PastTriggers, ReceiptPosition } from "../../foundation/store/past-triggers.ts";
import { v7 as uuidV7 } from "uuid";
import { mapTexts, jsonOf } from "../../foundation/contracts/json-size.ts";

/** A stored delivery, read again. */
export interface ReadDelivery {
  readonly event: WebhookEvent;
  /** The payload as JSON. */
  readonly payload: unknown;
}

export interface LookBackDeps {
  readonly past: PastTriggers;
  /** Null if it was deleted, or can't be read. */
  readonly deliveryOf: (receiptId: string) => ReadDelivery | null;
}

/** An earlier delivery or call that meets a wait. */
export interface PastMatch {
  /** In the queue of the wait's agent, or new for a delivery that gave the agent no work. */
  readonly item: WorkItem;
  /** The trigger in the form of the wait's answer. */
  readonly trigger: Readonly<Record<string, unknown>>;
}

/**
 * Looks for earlier work that meets a run's wait: first in its agent's queue, then among the deliveries since the run's
 * start that no run of the agent has had, oldest first. Bodies are read one per turn of the event loop, and only if
 * everything but the payload matches.
 */
export async function* lookBack(wait: Wait, deps: LookBackDeps): AsyncGenerator<PastMatch> {
  yield* inQueue(wait, deps);
  if (wait.condition.kind === "webhook") yield* delivered(wait, deps);
}

async function* inQueue(wait: Wait, deps: LookBackDeps): AsyncGenerator<PastMatch> {
  let page = deps.past.queued(wait, 0);
  for (; page.length > 0; page = deps.past.queued(wait, page.at(-1)?.seq ?? Infinity)) {
    for (const { item } of page) {
      const found = matching(queuedWork(item, wait, deps), wait);
      if (found !== null) yield { item, trigger: found.trigger() };
      await nextTurn();
    }
  }
}

async function* delivered(wait: Wait, deps: LookBackDeps): AsyncGenerator<PastMatch> {
  let from: ReceiptPosition | null = null;
  do {
    const page = deps.past.deliveries(wait, from);
    for (const receiptId of page.receiptIds) {
      const read = deps.deliveryOf(receiptId);
      const found = read && matching(deliveryAs(read.event, read.payload), wait);
      if (read && found) yield { item: itemFor(wait.agent, read.event), trigger: found.trigger() };
      await nextTurn();
    }
    await nextTurn();
    from = page.next;
  } while (from !== null);
}

/** The item as a match for the wait; null if it can't meet the wait with any payload. */
function queuedWork(
  { agent, trigger }: WorkItem,
  wait: Wait,
  deps: LookBackDeps,
): WaitedFor | null {
  if (trigger.kind === "agent-call") return callAs(agent, trigger);
  if (trigger.kind !== "webhook") return null;
  const without = deliveryAs(trigger.event, null);
  if (!meets(without.occurrence, { ...wait.condition, where: undefined })) return null;
  return deliveryAs(trigger.event, deps.deliveryOf(trigger.event.receiptId)?.payload ?? null);
}

function matching(found: WaitedFor | null, { condition }: Wait): WaitedFor | null {
  return found !== null && meets(found.occurrence, condition) ? found : null;
}

function itemFor(agent: string, event: WebhookEvent): WorkItem {
  const at = Date.parse(event.timestamp);
  return { id: uuidV7(), agent, at, attempt: 1, trigger: { kind: "webhook", event } };
}

/** A delivery or a call that may end a wait. */
export interface WaitedFor {
  readonly occurrence: Occurrence;
  /** The trigger in the form of a wait's answer; called only for a wait that it ends, since a payload may be large. */
  readonly trigger: () => Readonly<Record<string, unknown>>;
}

/** A webhook delivery as something that a run may wait for; `payload` is its parsed JSON. */
export function deliveryAs(event: WebhookEvent, payload: unknown): WaitedFor {
  const { source } = event;
  return {
    occurrence: { kind: "webhook", agent: null, source, event: event.event, payload },
    // A deeply nested payload can be parsed but not serialized.
    trigger: () => ({ kind: "webhook", ...event, payload: mapTexts(payload, (text) => text) }),
  };
}

/** A call of the agent. */
export function callAs(agent: string, call: Extract<Trigger, { kind: "agent-call" }>): WaitedFor {
  const { kind, callId, caller, callerInstance, depth, context } = call;
  return {
    occurrence: { kind, agent, source: caller, event: null, payload: jsonOf(context) },
    trigger: () => ({ kind, callId, caller, callerInstance, depth, context }),
  };
}
