import { setImmediate as nextTurn } from "node:timers/promises";
import { meets } from "../../../streams/coordination/condition.ts";
import type { Wait } from "../../../streams/coordination/waits.ts";
import type { WebhookEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { PastTriggers, ReceiptPosition } from "../../store/past-triggers.ts";
import { uuidV7 } from "../../store/uuid-v7.ts";
import { callAs, deliveryAs } from "./told.ts";
import type { Told } from "./told.ts";

/** A stored delivery, read again. */
export interface ReadDelivery {
  readonly event: WebhookEvent;
  /** Its JSON. */
  readonly payload: unknown;
}

export interface LookBackDeps {
  readonly past: Pick<PastTriggers, "queued" | "deliveries">;
  /** Null when it is gone, or can't be read any more. */
  readonly deliveryOf: (receiptId: string) => ReadDelivery | null;
}

/** What came before a wait and meets it. */
export interface PastMatch {
  /** In the queue of the wait's agent, or new for a delivery that gave the agent no work. */
  readonly item: WorkItem;
  /** What the run is told. */
  readonly trigger: Readonly<Record<string, unknown>>;
}

/**
 * What came before a run began to wait and meets its wait: first the work in its agent's queue, then the deliveries
 * since the run's start that no run of the agent has or had, oldest first. Bodies are read one in a turn of the event
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
      const told = matching(toldOf(item, wait, deps), wait);
      if (told !== null) yield { item, trigger: told.trigger() };
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
      const told = read && matching(deliveryAs(read.event, read.payload), wait);
      if (read && told) yield { item: itemFor(wait.agent, read.event), trigger: told.trigger() };
      await nextTurn();
    }
    await nextTurn();
    from = page.next;
  } while (from !== null);
}

/** Null when all but the payload tells already that it is not waited for. */
function toldOf({ agent, trigger }: WorkItem, wait: Wait, deps: LookBackDeps): Told | null {
  if (trigger.kind === "agent-call") return callAs(agent, trigger);
  if (trigger.kind !== "webhook") return null;
  const without = deliveryAs(trigger.event, null);
  if (!meets(without.occurrence, { ...wait.condition, where: undefined })) return null;
  return deliveryAs(trigger.event, deps.deliveryOf(trigger.event.receiptId)?.payload ?? null);
}

function matching(told: Told | null, { condition }: Wait): Told | null {
  return told !== null && meets(told.occurrence, condition) ? told : null;
}

function itemFor(agent: string, event: WebhookEvent): WorkItem {
  const at = Date.parse(event.timestamp);
  return { id: uuidV7(), agent, at, attempt: 1, trigger: { kind: "webhook", event } };
}
