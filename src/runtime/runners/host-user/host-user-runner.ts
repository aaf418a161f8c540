import type { Runner } from "../../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { harnesses } from "../../../../streams/harnesses.ts";
import { reasonOf } from "../../../foundation/errors.ts";
import type { Adopter } from "../adopt-runs.ts";
import { asRun } from "../as-run.ts";
import { lostExit, rejectedExit } from "../run-exit.ts";
import { adoptedRun, findRuns } from "./adopted-run.ts";
import type { HostUserOptions } from "./host-user-options.ts";
import { IsolatedUsers } from "./isolated-users.ts";
import { userOf } from "./supervisor-process.ts";
import { newRun } from "./new-run.ts";
import { removeLostLogs, startWorker } from "./prewarmed-worker.ts";
import type { WorkerKind } from "./prewarmed-worker.ts";
import { createWorkerPool, workerPoolTimes } from "./worker-pool.ts";

export interface HostUserRunner extends Runner, Adopter {
  /**
   * Keeps so many processes prewarmed of each of these kinds from now on, and none of others. A run of the
   * pi harness takes one at once.
   */
  prewarm(kinds: readonly WorkerKind[], each: number): void;
}

/**
 * Runs each agent as an OS user: through sudo, or as the scheduler's own (`run_as = "$USER"`). A run lives on when
 * the scheduler dies; its log file has what the next one missed.
 */
export function createHostUserRunner(options: HostUserOptions): HostUserRunner {
  const context = { ...options, isolatedUsers: new IsolatedUsers() };
  const pool = createWorkerPool({
    ...workerPoolTimes,
    start: (kind) => startWorker(kind, options),
  });
  const workerFor = (agent: AgentConfig) => {
    if (!harnesses[agent.harness.type].canPrewarm) return null;
    return pool.take({ user: userOf(agent.runtime.runAs), network: options.network(agent) });
  };
  return {
    prewarm: (kinds, each) => {
      if (each > 0) removeLostLogs(options.baseDir);
      const oneName = kinds.map(({ user, network }) => ({ user: userOf(user), network }));
      pool.keep(oneName, each);
    },
    run: (request, stop$) =>
      asRun(
        stop$,
        (subscriber) => newRun(request, subscriber, context, () => workerFor(request.agent)),
        (error) => rejectedExit(reasonOf(error)),
      ),
    resume: (run, stop$) =>
      asRun(
        stop$,
        (subscriber) => adoptedRun(run, subscriber, context),
        (error) => lostExit(reasonOf(error)),
      ),
    adopt: (instanceIds) => findRuns(instanceIds, options),
  };
}
