import type { RunEnd, RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { retryOf } from "../foundation/store/recover.ts";
import { v7 as uuidV7 } from "uuid";
import type { Also, Work } from "../foundation/store/work.ts";

/** The part of the store that events are written to. */
export interface EventStore {
  end(
    item: WorkItem,
    run: {
      readonly instanceId: string;
      readonly startedAt: number;
      readonly at: number;
      readonly end: RunEnd;
    },
    also?: Also,
  ): Promise<void>;
  refuse(
    item: WorkItem,
    outcome: "skipped" | "missed" | "dropped" | "rejected",
    reason: string,
    deadLetter: boolean,
    also?: Also,
  ): Promise<void>;
  /** A run that ended before its agent was asked for anything. */
  undoBegin(instanceId: string, also?: Also): Promise<void>;
  /** Commits what an event led to that is not recorded itself. */
  record(also: Also): Promise<void>;
  /** How far an agent's schedule came, epoch ms. */
  recordTick(agent: string, at: number): Promise<void>;
}

/**
 * Records what became of work, and in the same commit what the event led to; resolves once that is committed. Skipped and missed ticks are not dead letters, because the next tick comes by itself; dropped and rejected
 * work is.
 */
export async function recordEvent(event: RunEvent, store: EventStore, also?: Also): Promise<void> {
  switch (event.type) {
    case "finished":
      return store.end(event.item, event, also);
    case "refused": {
      const dead = event.outcome === "dropped" || event.outcome === "rejected";
      return store.refuse(event.item, event.outcome, event.reason, dead, also);
    }
    case "blocked":
      if (event.reason !== null) return store.undoBegin(event.instanceId, also);
      return also && store.record(also);
    case "next-run":
      return store.recordTick(event.agent, event.at);
    default:
      if (also !== undefined) return store.record(also);
  }
}

/**
 * The work of a run that was lost or interrupted, once more: committed, then dispatched. A scheduler that is being
 * stopped dispatches nothing any more, so that the work waits for the next start.
 */
export async function retryWork(
  event: RunEvent,
  work: Pick<Work, "requeue">,
  dispatch: (items: readonly WorkItem[]) => void,
): Promise<void> {
  if (event.type !== "finished") return;
  const retry = retryOf(event.item, event.end);
  if (retry === null) return;
  await work.requeue([retry]);
  dispatch([retry]);
}

export interface RerunDeps {
  readonly work: Pick<Work, "requeue" | "refuse">;
  readonly dispatch: (items: readonly WorkItem[]) => void;
  /** How many reruns there may be in a row. */
  readonly maxReruns: () => number;
  /** Cron ticks are skipped, and so is what comes of them. */
  readonly isPaused: () => boolean;
}

/**
 * A run by schedule that succeeded and asked to be run again: new work, committed, then handed on. A run that failed
 * ends the row, and so does the most that may follow each other.
 */
export async function rerun(event: RunEvent, deps: RerunDeps): Promise<void> {
  if (event.type !== "finished" || event.end.rerun !== true) return;
  if (event.end.outcome !== "succeeded" || event.item.trigger.kind !== "cron") return;
  const { trigger } = event.item;
  const count = (trigger.rerun ?? 0) + 1;
  const { agent, at } = event;
  const again: WorkItem = {
    id: uuidV7(),
    agent,
    at,
    attempt: 1,
    trigger: { ...trigger, rerun: count },
  };
  const most = deps.maxReruns();
  if (count > most) {
    return deps.work.refuse(again, "skipped", `it ran again ${most} times in a row`, false);
  }
  if (deps.isPaused()) {
    return deps.work.refuse(again, "skipped", "the scheduler is paused", false);
  }
  await deps.work.requeue([again]);
  deps.dispatch([again]);
}
