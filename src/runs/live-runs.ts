import { Subject } from "rxjs";
import type { Observable } from "rxjs";
import type { RunOwner } from "../../streams/runs/suspension.ts";
import type { RunEvent } from "../../streams/vocabulary.ts";
import { LiveRun, runIsOver } from "./live-run.ts";
import type { LiveRunDeps } from "./live-run.ts";

/** The runs that live; each is owned here from its claim or adoption to its end. */
export interface LiveRuns extends RunOwner {
  find(instanceId: string): LiveRun | undefined;
  /** Throws a RunApiError `unauthorized` when the run does not live. */
  get(instanceId: string): LiveRun;
  onEvent(event: RunEvent): void;
  /** What the scheduler reports of runs: status texts while they are suspended, and warnings. */
  readonly event$: Observable<RunEvent>;
}

/** No runs at first. */
export function createLiveRuns(deps: Omit<LiveRunDeps, "emit">): LiveRuns {
  const runs = new Map<string, LiveRun>();
  const event$ = new Subject<RunEvent>();
  let isEmitting = false;
  const emit = (event: RunEvent): void => {
    isEmitting = true;
    event$.next(event);
    isEmitting = false;
  };
  return {
    enter: (start) => {
      const run = new LiveRun(start, { ...deps, emit });
      runs.set(run.instanceId, run);
      return run.clock;
    },
    find: (instanceId) => runs.get(instanceId),
    get: (instanceId) => {
      const run = runs.get(instanceId);
      if (run === undefined) throw runIsOver();
      return run;
    },
    onEvent: (event) => {
      if (event.type !== "status-text" && event.type !== "finished") return;
      const run = runs.get(event.instanceId);
      if (run === undefined) return;
      if (event.type === "finished") {
        runs.delete(event.instanceId);
        run[Symbol.dispose]();
      } else if (!isEmitting) {
        run.statusText = event.text;
      }
    },
    event$,
  };
}
