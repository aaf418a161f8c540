import { concat, defer, finalize, map, merge, of, switchMap, take, takeWhile } from "rxjs";
import type { Observable } from "rxjs";
import type { Runner, RunnerEvent, RunnerExit, StopReason } from "../../streams/runs/runner.ts";
import type { RunRequest } from "../../streams/vocabulary.ts";

/** What a fake run does: its output and status texts; when they complete, it exits as `exit` says. */
export interface FakeRun {
  readonly event$: Observable<RunnerEvent>;
  readonly exit?: Partial<RunnerExit>;
  /** Emits when the run, asked to end, does end; at once without it. */
  readonly endsAfterStop?: Observable<unknown>;
}

export interface FakeRunner extends Runner {
  /** Requests in the order they were started. */
  readonly started: readonly RunRequest[];
  /** Instances that run now. */
  readonly live: ReadonlySet<string>;
}

export function anExit(exit: Partial<RunnerExit> = {}): RunnerEvent {
  const clean = { exitCode: 0, signal: null, outOfMemory: false, rejected: null } as const;
  return { type: "exit", exit: { ...clean, error: null, usage: null, ...exit } };
}

/** One line of output of a run. */
export function anOutput({ agent, instanceId }: RunRequest, msg: string, time = 0): RunnerEvent {
  return {
    type: "output",
    entry: { level: 30, time, msg, agent: agent.name, instanceId, kind: "said" },
  };
}

/** A runner without processes, for tests in virtual time: each run is an observable that the test scripts. */
export function fakeRunner(script: (request: RunRequest) => FakeRun): FakeRunner {
  const started: RunRequest[] = [];
  const live = new Set<string>();
  return {
    started,
    live,
    run: (request, stop$) =>
      defer(() => {
        started.push(request);
        live.add(request.instanceId);
        return scripted(script(request), stop$);
      }).pipe(finalize(() => live.delete(request.instanceId))),
  };
}

function scripted(run: FakeRun, stop$: Observable<StopReason>): Observable<RunnerEvent> {
  const byItself$ = concat(run.event$, of(anExit(run.exit)));
  const stopped$ = stop$.pipe(
    take(1),
    switchMap(() => run.endsAfterStop ?? of(null)),
    take(1),
    map(() => anExit({ exitCode: null, signal: "SIGTERM" })),
  );
  // In this order, as a test may ask a run to end from within its first event.
  return merge(stopped$, byItself$).pipe(takeWhile(({ type }) => type !== "exit", true));
}
