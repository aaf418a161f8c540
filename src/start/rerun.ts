import type { RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { uuidV7 } from "../store/uuid-v7.ts";
import type { Work } from "../store/work.ts";

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
    ...{ id: uuidV7(), agent, at, attempt: 1 },
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
