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
import type { BuildEvent } from "../../../../streams/vocabulary.ts";
import type { EngineChange } from "./engine-changes.ts";

/** Removing an image emits several events. */
const settleMs = 500;

/**
 * Prepares the image, and again after the engine went away or images were removed from it, so that an image is built
 * before a run needs it. After a failed build, removed images are ignored: the build itself removes its unfinished
 * images. If the image still exists after a removal, no event is emitted.
 */
export function keepReady(
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
