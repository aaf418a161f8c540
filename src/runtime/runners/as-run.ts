import type { StopReason } from "../../../streams/outcomes.ts";
import { Observable, take } from "rxjs";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { messageOf } from "../../foundation/errors.ts";

/** The subscriber of a run, for the run's work. */
export interface RunSubscriber {
  readonly emit: (event: RunnerEvent) => void;
  /** Aborted when the run must end, with the StopReason as its reason. */
  readonly stopping: AbortSignal;
  /** Aborted when the subscriber unsubscribes. */
  readonly left: AbortSignal;
}

/**
 * Runs work that emits a run's events, as a cold stream that completes with the work. `broken` turns a rejection into an
 * exit. A rejection after the work emitted an exit is only a warning, as the run's end is known.
 */
export function asRun(
  stop$: Observable<StopReason>,
  work: (subscriber: RunSubscriber) => Promise<void>,
  broken: (error: unknown) => RunnerEvent,
): Observable<RunnerEvent> {
  return new Observable((subscriber) => {
    const left = new AbortController();
    const stopping = new AbortController();
    subscriber.add(stop$.pipe(take(1)).subscribe((reason) => stopping.abort(reason)));
    subscriber.add(() => left.abort());
    let isOver = false;
    const emit = (event: RunnerEvent) => {
      isOver ||= event.type === "exit";
      subscriber.next(event);
    };
    work({ emit, stopping: stopping.signal, left: left.signal })
      .catch((error: unknown) => {
        if (!isOver) return emit(broken(error));
        process.emitWarning(`an ended run could not be cleaned up: ${messageOf(error)}`);
      })
      .finally(() => subscriber.complete());
  });
}

/** Resolves with `promise`, or with null once `signal` is aborted; a later rejection is then ignored. */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
): Promise<T | null> {
  const gone = Promise.withResolvers<null>();
  const abort = (): void => gone.resolve(null);
  if (signal.aborted) abort();
  // Not by `aborted` of node:util: what other listeners of the signal hold would stay in memory if it leads to the promise.
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, gone.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
