import type { Observable } from "rxjs";
import type { Runner, RunnerEvent, StopReason } from "../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import { harnesses } from "../../../streams/harnesses.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import { reasonOf } from "../../errors.ts";
import { asRun } from "../as-run.ts";
import { lostExit } from "../run-exit.ts";
import { rejectedExit } from "../rejecting.ts";
import { findRuns } from "./find-runs.ts";
import type { FoundHostUserRun } from "./find-runs.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { isOwnUser } from "./supervisor-process.ts";
import { newRun } from "./new-run.ts";
import { resumedRun } from "./resumed-run.ts";
import { removeLostLogs, startWorker } from "./prewarmed-worker.ts";
import { createWorkerPool, workerPoolTimes } from "./worker-pool.ts";

export interface HostUserRunner extends Runner {
  /**
   * Keeps so many processes prewarmed for each of these OS users from now on, and none for others. A run of the
   * pi harness takes one at once.
   */
  prewarm(users: readonly string[], each: number): void;
  /**
   * Which of these instances live, or ended while no scheduler was there. What is left of others is ended and
   * removed, so that their work can be tried again.
   */
  adopt(instanceIds: readonly string[]): Promise<readonly FoundHostUserRun[]>;
  /**
   * Goes on with a run that `adopt` found; otherwise as `run`. `last` is the last line of it that was logged: what
   * comes after is handed on. Null: everything.
   */
  resume(
    run: { readonly request: RunRequest; readonly last: LogEntry | null },
    stop$: Observable<StopReason>,
  ): Observable<RunnerEvent>;
}

/**
 * Runs each agent as an OS user: through sudo, or as the scheduler's own (`run_as = "$USER"`). A run lives on when
 * the scheduler dies; its log file tells the next one what it missed.
 */
export function createHostUserRunner(options: HostUserOptions): HostUserRunner {
  const pool = createWorkerPool({
    ...workerPoolTimes,
    start: (user) => startWorker(user, options),
  });
  const workerFor = ({ harness, runtime }: AgentConfig) =>
    harnesses[harness.type].canPrewarm ? pool.take(userOf(runtime.runAs)) : null;
  return {
    prewarm: (users, each) => {
      if (each > 0) removeLostLogs(options.baseDir);
      pool.keep(users.map(userOf), each);
    },
    run: (request, stop$) =>
      asRun(
        stop$,
        (life) => newRun(request, life, options, () => workerFor(request.agent)),
        (error) => rejectedExit(reasonOf(error)),
      ),
    resume: ({ request, last }, stop$) =>
      asRun(
        stop$,
        (life) => resumedRun(request, last, life, options),
        (error) => lostExit(reasonOf(error), null),
      ),
    adopt: (instanceIds) => findRuns(instanceIds, options),
  };
}

/** One name for one user. */
function userOf(runAs: string): string {
  return isOwnUser(runAs) ? "$USER" : runAs;
}
