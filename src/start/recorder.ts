import type { RunEnd, RunEvent, WorkItem } from "../../streams/vocabulary.ts";

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
  ): Promise<void>;
  refuse(
    item: WorkItem,
    outcome: "skipped" | "missed" | "dropped" | "rejected",
    reason: string,
    deadLetter: boolean,
  ): Promise<void>;
  /** How far cron came with an agent, epoch ms, by the schedule in force. */
  recordTick(agent: string, at: number): Promise<void>;
}

/**
 * Writes what events say about work; resolves once that is committed. A tick that was skipped or missed is no dead
 * letter: the next one comes by itself. What was dropped or refused is one, because nothing brings it back.
 */
export async function recordEvent(event: RunEvent, store: EventStore): Promise<void> {
  switch (event.type) {
    case "finished":
      return store.end(event.item, event);
    case "refused": {
      const dead = event.outcome === "dropped" || event.outcome === "rejected";
      return store.refuse(event.item, event.outcome, event.reason, dead);
    }
    case "next-run":
      return store.recordTick(event.agent, event.at);
    default:
  }
}
