import type { RunEvent } from "../../../streams/vocabulary.ts";
import { OperationError } from "../../foundation/contracts/operations.ts";

/** The event that decides what becomes of a work item: it runs, it waits, or it is refused. */
export type FirstEvent = Extract<RunEvent, { type: "queued" | "started" | "refused" }>;

export interface FirstEvents {
  /**
   * What happens first to the work item; ask before it is handed on. Rejects with OperationError `draining` when the
   * scheduler stops before: the item, which is committed by then, waits for the next start.
   */
  of(itemId: string): Promise<FirstEvent>;
  see(event: RunEvent): void;
  /** No event comes any more. */
  end(): void;
}

interface Waiting {
  readonly resolve: (event: FirstEvent) => void;
  readonly reject: (error: OperationError) => void;
}

/**
 * Lets a trigger's sender wait for the answer, at no cost to all other events. Once the scheduler `isStopping`, no work
 * is taken from the queue, so no sender may begin to wait: an open request holds up the end.
 */
export function createFirstEvents(isStopping: () => boolean): FirstEvents {
  const waiting = new Map<string, Waiting>();
  return {
    of: (itemId) =>
      new Promise((resolve, reject) => {
        if (isStopping()) reject(stopped());
        else waiting.set(itemId, { resolve, reject });
      }),
    see: (event) => {
      if (waiting.size === 0 || !decides(event)) return;
      waiting.get(event.item.id)?.resolve(event);
      waiting.delete(event.item.id);
    },
    end: () => {
      for (const { reject } of waiting.values()) reject(stopped());
      waiting.clear();
    },
  };
}

function stopped(): OperationError {
  return new OperationError(
    "draining",
    "the scheduler is stopping; the work waits for its next start",
  );
}

function decides(event: RunEvent): event is FirstEvent {
  return event.type === "queued" || event.type === "started" || event.type === "refused";
}
