import {
  concat,
  defer,
  filter,
  ignoreElements,
  of,
  repeat,
  switchMap,
  take,
  tap,
  timer,
} from "rxjs";
import type { Observable, SchedulerLike } from "rxjs";
import type { BuildEvent } from "../../streams/vocabulary.ts";
import type { EngineChange } from "../runners/container/engine-changes.ts";

/** Whoever removes one image removes its names and its parts one by one, in ms. */
const settleMs = 500;

/**
 * Prepares, and again whenever that may have come undone: the engine went away, or images were removed from it. So
 * what was removed is built anew before a run needs it, and not in the run's time. After a failure removed images
 * are no reason: a build may itself remove what it could not finish. Finding all there after a removal is silent.
 */
export function keptReady(
  prepare: () => Observable<BuildEvent>,
  change$: Observable<EngineChange>,
  scheduler: SchedulerLike,
): Observable<BuildEvent> {
  return defer(() => {
    let good = false;
    let last: EngineChange | null = null;
    const prepared$ = defer(prepare).pipe(
      tap((event) => {
        if (event.type === "build-finished") good = isGood(event);
      }),
      filter((event, index) => !(last === "image-removed" && index === 0 && isGood(event))),
    );
    const undone$ = change$.pipe(
      filter((change) => change === "gone" || good),
      take(1),
      tap((change) => (last = change)),
      switchMap((change) => (change === "gone" ? of(0) : timer(settleMs, scheduler))),
      ignoreElements(),
    );
    return concat(prepared$, undone$).pipe(repeat());
  });
}

function isGood(event: BuildEvent): boolean {
  return event.type === "build-finished" && event.error === null && event.usable;
}
