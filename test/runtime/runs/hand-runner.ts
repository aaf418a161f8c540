import { finalize, map, merge, of, Subject, switchMap, take, timer } from "rxjs";
import type { Runner, RunnerExit } from "../../../streams/runs/runner.ts";
import { exitWith } from "../../helpers/stream-runner.ts";

/** Runs that a test ends by hand. One that is stopped takes `stopMs` to end, or ends at once. */
export function handRunner(stopMs: number) {
  const ends = new Map<string, Subject<Partial<RunnerExit>>>();
  const runner: Runner = {
    run: ({ instanceId }, stop$) => {
      const end$ = new Subject<Partial<RunnerExit>>();
      ends.set(instanceId, end$);
      const stopped$ = stop$.pipe(
        switchMap(() => (stopMs === 0 ? of(null) : timer(stopMs))),
        map(() => ({ exitCode: null, signal: "SIGTERM" })),
      );
      const forget = (): void => void ends.delete(instanceId);
      return merge(end$, stopped$).pipe(map(exitWith), take(1), finalize(forget));
    },
  };
  const end = (instanceId: string, exit: Partial<RunnerExit> = {}): void =>
    ends.get(instanceId)?.next(exit);
  return { runner, end };
}
