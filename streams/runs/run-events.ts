import type { RunEvent, WorkItem } from "../vocabulary.ts";
import type { DropReason, QueueEvent, Withdrawal } from "./queue-latest.ts";

/** A work item that leaves its queue, as nobody wants it any more or a run that lives has it. */
export interface Withdrawn {
  readonly agent: string;
  readonly itemId: string;
  readonly why: Withdrawal<WorkItem>["why"];
}

const whys: Readonly<Record<Exclude<DropReason, "taken">, string>> = {
  full: "queue_full",
  closed: "the agent was removed",
  withdrawn: "the run that called it ended, and wanted it no longer",
};

/** What an agent's queue reports, as events. `at` is epoch ms. */
export function queueRunEvent(agent: string, at: number, event: QueueEvent<WorkItem>): RunEvent {
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
      const reason = event.why === "busy" ? "all runners are busy" : "the agent is held";
      return { type: "refused", agent, at, item: event.item, outcome: "skipped", reason };
    }
  }
}

/** Work for an agent that does not exist. */
export function noSuchAgent(item: WorkItem, at: number): RunEvent {
  const reason = `there is no agent "${item.agent}"`;
  return { type: "refused", agent: item.agent, at, item, outcome: "rejected", reason };
}
