import type { Observable } from "rxjs";
import type { Runner, RunnerEvent, StopReason } from "../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import { messageOf, UserError } from "../../errors.ts";
import { asRun } from "../as-run.ts";
import { lostExit } from "../container/run-exit.ts";
import { rejectedExit } from "../rejecting.ts";
import { findRuns } from "./find-runs.ts";
import type { FoundHostUserRun } from "./find-runs.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { newRun } from "./new-run.ts";
import { resumedRun } from "./resumed-run.ts";

export interface HostUserRunner extends Runner {
  /**
   * Which of these instances live, or ended with nobody there to see it. What is left of others is ended and
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
  return {
    run: (request, stop$) =>
      asRun(
        stop$,
        (life) => newRun(request, life, options),
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

function reasonOf(error: unknown): string {
  const hint = error instanceof UserError ? error.hint : null;
  return hint === null ? messageOf(error) : `${messageOf(error)}; ${hint}`;
}
