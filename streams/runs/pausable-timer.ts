import { defer, distinctUntilChanged, finalize, map, NEVER, switchMap, take, timer } from "rxjs";
import type { Observable, SchedulerLike } from "rxjs";
import { longestTimerMs } from "../longest-timer.ts";

/**
 * Emits once after `leftMs` in which the clock ran, and completes. While `paused$` is true, the time that goes by
 * doesn't count. `elapsed` is a clock in ms that is never set: only how far it went counts.
 *
 *     paused:    f──t─────f────      leftMs 5
 *     out:       ─────────────(x|)
 */
export function pausableTimer(
  paused$: Observable<boolean>,
  leftMs: number,
  scheduler: SchedulerLike,
  elapsed: () => number = () => scheduler.now(),
): Observable<void> {
  return defer(() => {
    let left = leftMs;
    return paused$.pipe(
      distinctUntilChanged(),
      switchMap((paused) => {
        if (paused) return NEVER;
        const since = elapsed();
        const dueIn = Math.max(0, Math.min(left, longestTimerMs));
        return timer(dueIn, scheduler).pipe(
          finalize(() => (left -= elapsed() - since)),
          map(() => undefined),
        );
      }),
      take(1),
    );
  });
}
