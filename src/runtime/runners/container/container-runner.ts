import { defer } from "rxjs";
import type { Observable } from "rxjs";
import type { Runner, StopReason } from "../../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../../streams/vocabulary.ts";
import type { Adopter } from "../adopt-runs.ts";
import { asRun } from "../as-run.ts";
import type { RunSubscriber } from "../as-run.ts";
import { lostExit } from "../run-exit.ts";
import { adoptedRun, exitUnlessFound, foundAmong } from "./adopted-run.ts";
import type { ContainerRunnerOptions } from "./container-runner-options.ts";
import { engineReason } from "./engine.ts";
import { newRun } from "./new-run.ts";
import { createReconciler } from "./reconcile.ts";
import { removeRun } from "./stop-container.ts";

/**
 * While there is no engine to ask, `adopt` finds all runs that it may have: `resume` waits for it, and their exit is
 * `lost` if it has them no more.
 */
export interface ContainerRunner extends Runner, Adopter {
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
    work: (subscriber: RunSubscriber) => Promise<void>,
  ) =>
    defer(() => {
      live.add(instanceId);
      return asRun(
        stop$,
        (subscriber) => work(subscriber).finally(() => live.delete(instanceId)),
        (error) => lostExit(engineReason(error)),
      );
    });
  return {
    run: (request, stop$) =>
      followed(request, stop$, (subscriber) => newRun(request, subscriber, options)),
    resume: (run, stop$) =>
      followed(run.request, stop$, async (subscriber) => {
        const { instanceId } = run.request;
        const isSure = !unsure.delete(instanceId);
        const exit = isSure ? null : await exitUnlessFound(instanceId, subscriber, reconciler);
        if (exit === null) return adoptedRun(run, subscriber, options);
        // Before the exit: what is lost may be tried again at once.
        await removeRun(run.request, options);
        subscriber.emit(exit);
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
