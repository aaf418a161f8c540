import type { StopReason } from "../outcomes.ts";
import {
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  merge,
  Observable,
  of,
  repeat,
  switchMap,
  take,
  takeUntil,
  timer,
} from "rxjs";
import type { SchedulerLike } from "rxjs";
import { stoppedBeforeStart, type RunnerEvent } from "./runner.ts";
import type { Suspension } from "./suspension.ts";

/** The machine can't start the run now; `reason` is null once it started. */
export interface Blocked {
  readonly type: "blocked";
  readonly reason: string | null;
}

export interface UntilStartedOptions {
  readonly stop$: Observable<StopReason>;
  /** True once the scheduler stops: then a blocked run is not started again. */
  readonly draining$: Observable<boolean>;
  /** Suspends the run between two starts. */
  readonly clock: Suspension;
  readonly scheduler: SchedulerLike;
}

/** Time between two starts, in ms: doubled each time, up to the longest. */
const firstPauseMs = 1000;
const longestPauseMs = 60_000;

/**
 * A run that is started again as long as the machine can't start it, and reports that in place of an exit.
 *
 *     run:  ─b|                 b exit with `blocked`, o output, x exit
 *               ─ ─ ─ ─o──x|
 *     out:  ─B─ ─ ─ ─ ─(no)x|   B blocked, n blocked no more
 */
export function untilStarted(
  run$: Observable<RunnerEvent>,
  { stop$, draining$, clock, scheduler }: UntilStartedOptions,
): Observable<RunnerEvent | Blocked> {
  return defer(() => {
    let tries = 0;
    let reason: string | null = null;
    const report = (event: RunnerEvent): readonly (RunnerEvent | Blocked)[] => {
      const wasBlocked = reason !== null;
      const isBlocked = event.type === "exit" && event.exit.blocked === true;
      reason = isBlocked ? (event.exit.rejected ?? "") : null;
      if (reason !== null) return [{ type: "blocked", reason }];
      return wasBlocked ? [{ type: "blocked", reason: null }, event] : [event];
    };
    const over$ = merge(stop$, draining$.pipe(filter(Boolean)));
    const pause = (): Observable<unknown> => {
      if (reason === null) return EMPTY;
      const pauseMs = Math.min(firstPauseMs * 2 ** tries++, longestPauseMs);
      const resume = clock.suspend(true);
      return timer(pauseMs, scheduler).pipe(
        switchMap(() => new Observable<void>((subscriber) => resume(() => subscriber.next()))),
        take(1),
        takeUntil(over$),
      );
    };
    return concat(
      run$.pipe(concatMap(report), repeat({ delay: pause })),
      defer(() => (reason === null ? EMPTY : of(stoppedBeforeStart))),
    );
  });
}
