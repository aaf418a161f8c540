import type { Wait } from "../../foundation/contracts/run-state.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import { meets } from "../../foundation/contracts/condition.ts";
import type { WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { PastTriggers, ReceiptPosition } from "../../foundation/store/past-triggers.ts";
import { v7 as uuidV7 } from "uuid";
import { callAs, deliveryAs } from "./occurrence.ts";
import type { WaitedFor } from "./occurrence.ts";

/** A stored delivery, read again. */
export interface ReadDelivery {
  readonly event: WebhookEvent;
  /** Its JSON. */
  readonly payload: unknown;
}

export interface LookBackDeps {
  readonly past: Pick<PastTriggers, "queued" | "deliveries">;
  /** Null when it is gone, or can no longer be read. */
  readonly deliveryOf: (receiptId: string) => ReadDelivery | null;
}

/** A delivery or a call that came before a wait and meets it. */
export interface PastMatch {
  /** In the queue of the wait's agent, or new for a delivery that gave the agent no work. */
  readonly item: WorkItem;
  /** As the answer to the wait holds it. */
  readonly trigger: Readonly<Record<string, unknown>>;
}

/**
 * Looks for work from before a run began to wait that meets its wait: first in its agent's queue, then among the
 * deliveries since the run's start that no run of the agent has or had, oldest first. Bodies are read one in a turn of the event
 * loop, and only when all but the payload fits.
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

/** Null when all but the payload shows already that it does not meet the wait. */
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
