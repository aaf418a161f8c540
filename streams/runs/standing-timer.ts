import { defer, distinctUntilChanged, finalize, map, NEVER, switchMap, take, timer } from "rxjs";
import type { Observable, SchedulerLike } from "rxjs";
import { longestTimerMs } from "../longest-timer.ts";

/**
 * Emits once after `leftMs` in which the clock went, and completes. While `standing$` is true, the time that goes by
 * doesn't count. `elapsed` is a clock in ms that nobody sets: only how far it went counts.
 *
 *     standing:  f──t─────f────      leftMs 5
 *     out:       ─────────────(x|)
 */
export function standingTimer(
  standing$: Observable<boolean>,
  leftMs: number,
  scheduler: SchedulerLike,
  elapsed: () => number = () => scheduler.now(),
): Observable<void> {
  return defer(() => {
    let left = leftMs;
    return standing$.pipe(
      distinctUntilChanged(),
      switchMap((standing) => {
        if (standing) return NEVER;
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
