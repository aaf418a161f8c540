import { Problem } from "../../foundation/errors.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";

/** The first event of a work item: it runs, waits, or is rejected. */
export type FirstEvent = Extract<RunEvent, { type: "queued" | "started" | "refused" }>;

interface Waiting {
  readonly resolve: (event: FirstEvent) => void;
  readonly reject: (error: Problem) => void;
}

/**
 * Lets a trigger's sender wait for the answer, at no cost to all other events. Once the scheduler `isStopping`, the
 * queue starts no work, so no sender may begin to wait: an open request delays the end.
 */
export function createFirstEvents(isStopping: () => boolean) {
  const waiting = new Map<string, Waiting>();
  return {
    /**
     * The first event of the work item; call this before the item is dispatched. Rejects with Problem `draining` if the
     * scheduler stops before: the item, which is committed by then, waits for the next start.
     */
    of: (itemId: string): Promise<FirstEvent> =>
      new Promise((resolve, reject) => {
        if (isStopping()) reject(stopped());
        else waiting.set(itemId, { resolve, reject });
      }),
    see: (event: RunEvent) => {
      if (waiting.size === 0 || !decides(event)) return;
      waiting.get(event.item.id)?.resolve(event);
      waiting.delete(event.item.id);
    },
    /** No further event will come. */
    end: () => {
      for (const { reject } of waiting.values()) reject(stopped());
      waiting.clear();
    },
  };
}

export type FirstEvents = ReturnType<typeof createFirstEvents>;

function stopped(): Problem {
  return new Problem("draining", "the scheduler is stopping; the work waits for its next start");
}

function decides(event: RunEvent): event is FirstEvent {
  return event.type === "queued" || event.type === "started" || event.type === "refused";
}
