import type { RunnerEvent } from "../../streams/runs/runner.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";

/** How a runtime finds the place in a run's output up to which it was recorded. */
export interface RecordedPlace {
  /** Whether this is the line that was recorded last. */
  readonly isLast: (entry: LogEntry, last: LogEntry) => boolean;
  /** Whether this line comes after that one for sure, so that the place was missed. */
  readonly isLater: (entry: LogEntry, last: LogEntry) => boolean;
}

/**
 * Hands on log lines from the first after `last` on, which is the last one that was recorded, and everything that is
 * no log line; with null all of them.
 */
export function eventsAfter(
  last: LogEntry | null,
  { isLast, isLater }: RecordedPlace,
  emit: (event: RunnerEvent) => void,
): (event: RunnerEvent) => void {
  let past = last === null;
  return (event) => {
    if (past || last === null || event.type !== "output") return emit(event);
    past = isLast(event.entry, last);
    if (past || !isLater(event.entry, last)) return;
    past = true;
    emit(event);
  };
}
