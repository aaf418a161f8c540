import { map, merge, take, timer, type SchedulerLike } from "rxjs";
import type { Runner, RunnerEvent, RunnerExit } from "../../streams/runs/runner.ts";

/** How a run's process ended: well, but for what a test says. */
export function exitOf(more: Partial<RunnerExit> = {}): RunnerExit {
  const silent = { signal: null, outOfMemory: false, rejected: null, error: null, usage: null };
  return { exitCode: 0, ...silent, ...more };
}

/** The last event of a run. */
export function exitWith(more: Partial<RunnerExit> = {}): RunnerEvent {
  return { type: "exit", exit: exitOf(more) };
}

/** A runner in virtual time: every run succeeds after `runMs`, and ends at once when it is stopped. */
export function timedRunner(scheduler: SchedulerLike, runMs: number): Runner {
  return {
    run: (_request, stop$) =>
      merge(
        timer(runMs, scheduler).pipe(map(() => exitWith())),
        stop$.pipe(map(() => exitWith({ exitCode: null, signal: "SIGTERM" }))),
      ).pipe(take(1)),
  };
}
