import type { RunEvent, WorkItem } from "../vocabulary.ts";
import { supersededText } from "./outcome.ts";
import type { DropReason, QueueEvent, Withdrawal } from "./waiting-items.ts";

/** A work item that leaves its queue: its caller gave it up, or a live run takes it. */
export interface Withdrawn {
  readonly agent: string;
  readonly itemId: string;
  readonly why: Withdrawal<WorkItem>["why"];
}

const whys: Readonly<Record<Exclude<DropReason, "taken">, string>> = {
  full: "queue_full",
  closed: "the agent was removed",
  withdrawn: "the calling run ended and cancelled its call",
};

const ofKey = "a run of its key is live";
const replaced = "a newer run of its schedule replaced it while it waited";

/** The agent of a queue, and the time. */
export interface QueueAt {
  readonly agent: string;
  /** Epoch ms. */
  readonly at: number;
  /** False while its image is being built, or could not be. */
  readonly usable: boolean;
  /** Why it waits for money; null or absent while it does not. */
  readonly overBudget?: () => string | null;
}

/** Reports of an agent's queue, as events. */
export function queueRunEvent(
  { agent, at, usable, overBudget }: QueueAt,
  event: QueueEvent<WorkItem>,
): RunEvent {
  switch (event.type) {
    case "queued":
      return { type: "queued", agent, at, item: event.item };
    case "depth":
      return { type: "queue-depth", agent, at, depth: event.depth };
    case "dropped": {
      if (event.why === "taken") return { type: "taken", agent, at, item: event.item };
      const outcome = event.why === "withdrawn" ? "rejected" : "dropped";
      return { type: "refused", agent, at, item: event.item, outcome, reason: whys[event.why] };
    }
    case "skipped": {
      const held = overBudget?.() ?? (usable ? "the agent is held" : "its image is not ready");
      const reason = { busy: "all runners are busy", key: ofKey, held, replaced }[event.why];
      return { type: "refused", agent, at, item: event.item, outcome: "skipped", reason };
    }
    case "superseded": {
      const { item, by } = event;
      const superseded = { outcome: "superseded", supersededBy: by } as const;
      return { type: "refused", agent, at, item, ...superseded, reason: supersededText(item, by) };
    }
    case "ending":
      return { type: "ending", agent, at, itemId: event.itemId, by: event.by };
  }
}

/** Work for an agent that does not exist. */
export function noSuchAgent(item: WorkItem, at: number): RunEvent {
  const reason = `there is no agent "${item.agent}"`;
  return { type: "refused", agent: item.agent, at, item, outcome: "rejected", reason };
}
