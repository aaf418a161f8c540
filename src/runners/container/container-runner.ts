import { defer } from "rxjs";
import type { Observable } from "rxjs";
import type { Runner, RunnerEvent, StopReason } from "../../../streams/runs/runner.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import { asRun } from "../as-run.ts";
import type { Life } from "../as-run.ts";
import { adoptedRun, foundAmong } from "./adopted-run.ts";
import type { FoundContainerRun } from "./adopted-run.ts";
import type { ContainerRunnerOptions } from "./container-runner-options.ts";
import { engineReason } from "./engine.ts";
import { exitUnlessFound } from "./exit-unless-found.ts";
import { newRun } from "./new-run.ts";
import { createReconciler } from "./reconcile.ts";
import { lostExit } from "../run-exit.ts";
import { leaveNothing } from "./run-steps.ts";

export interface ContainerRunner extends Runner {
  /**
   * Which of these instances live, or ended while no scheduler was there. While there is no engine to ask these are all
   * that it may have: `resume` waits for it, and their exit is `lost` if it has them no more.
   */
  adopt(instanceIds: readonly string[]): Promise<readonly FoundContainerRun[]>;
  /**
   * Goes on with a run that `adopt` found; otherwise as `run`. `last` is the last line of it that was logged: what
   * comes after is handed on. Null: everything.
   */
  resume(
    run: { readonly request: RunRequest; readonly last: LogEntry | null },
    stop$: Observable<StopReason>,
  ): Observable<RunnerEvent>;
  /**
   * Removes what is left on the engine of the project's runs that neither were started nor found by this runner.
   * Rejects when the engine cannot be reached.
   */
  reap(): Promise<void>;
}

/** Runs each agent in a container of its own, which is removed when the run is over. */
export function createContainerRunner(options: ContainerRunnerOptions): ContainerRunner {
  const { engine, projectDir, records } = options;
  const reconciler = createReconciler(engine, projectDir);
  const live = new Set<string>();
  const unsure = new Set<string>();
  const followed = (
    { instanceId }: RunRequest,
    stop$: Observable<StopReason>,
    work: (life: Life) => Promise<void>,
  ) =>
    defer(() => {
      live.add(instanceId);
      return asRun(
        stop$,
        (life) => work(life).finally(() => live.delete(instanceId)),
        (error) => lostExit(engineReason(error), null),
      );
    });
  return {
    run: (request, stop$) => followed(request, stop$, (life) => newRun(request, life, options)),
    resume: ({ request, last }, stop$) =>
      followed(request, stop$, async (life) => {
        const isSure = !unsure.delete(request.instanceId);
        const exit = isSure ? null : await exitUnlessFound(request, life, reconciler);
        if (exit === null) return adoptedRun(request, last, life, options);
        // Before the exit: what is lost may be tried again at once.
        await leaveNothing(request, options);
        life.emit(exit);
      }),
    adopt: async (instanceIds) => {
      const found = await foundAmong(instanceIds, reconciler, records);
      for (const { instanceId, sure } of found) {
        live.add(instanceId);
        if (!sure) unsure.add(instanceId);
      }
      return found;
    },
    reap: async () => {
      await reconciler.reap(() => live);
      for (const id of await records.list()) if (!live.has(id)) await records.remove(id);
    },
  };
}
