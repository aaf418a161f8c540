import { asyncScheduler, defer } from "rxjs";
import type { Observable } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import type { Runner, StopReason } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { RemoteRuns } from "../../foundation/contracts/remote-run.ts";
import { refusal } from "../../foundation/contracts/run-api.ts";
import { reasonOf } from "../../foundation/errors.ts";
import type { Adopter, FoundRun } from "../runners/adopt-runs.ts";
import { asRun } from "../runners/as-run.ts";
import type { RunSubscriber } from "../runners/as-run.ts";
import { lostExit, rejectedExit } from "../runners/run-exit.ts";
import { adoptedRun } from "./adopted-run.ts";
import type { ClusterRunnerOptions } from "./cluster-runner-options.ts";
import { watchEngine } from "./engine-watch.ts";
import { createLeftovers } from "./leftovers.ts";
import { newRun } from "./new-run.ts";
import { numberOf } from "./received-lines.ts";
import { runIsOver } from "./remote-process.ts";
import type { RemoteProcess } from "./remote-process.ts";
import type { ClusterContext } from "./follow-process.ts";

export interface ClusterRunner extends Runner, Adopter {
  /** What the runs' processes ask for, by the scheduler's door. */
  readonly remoteRuns: RemoteRuns;
  /** Removes what is left on the engine of runs that neither were started nor found by this runner, once it answers. */
  reap(): Promise<void>;
}

/** Runs each agent by an engine that places it on a machine of a cluster. The engine starts; all else is between the run and the scheduler. */
export function createClusterRunner(options: ClusterRunnerOptions): ClusterRunner {
  const { engine, records } = options;
  const live = new Set<string>();
  const processes = new Map<string, RemoteProcess>();
  const context: ClusterContext = {
    ...options,
    processes,
    clock: createClock(elapsed),
    watch: watchEngine(engine, options.pollMs),
    leftovers: createLeftovers(engine, records),
  };
  const followed = (
    { instanceId }: RunRequest,
    stop$: Observable<StopReason>,
    work: (subscriber: RunSubscriber) => Promise<void>,
    broken: (reason: string) => ReturnType<typeof lostExit>,
  ) =>
    defer(() => {
      live.add(instanceId);
      return asRun(
        stop$,
        (subscriber) => work(subscriber).finally(() => live.delete(instanceId)),
        (error) => broken(reasonOf(error)),
      );
    });
  const processOf = (instanceId: string): RemoteProcess => {
    const process = processes.get(instanceId);
    if (process !== undefined) return process;
    // It is being adopted.
    if (live.has(instanceId)) throw refusal("unavailable", "The scheduler is starting.");
    throw runIsOver();
  };
  return {
    run: (request, stop$) =>
      followed(request, stop$, (subscriber) => newRun(request, subscriber, context), rejectedExit),
    resume: (run, stop$) =>
      followed(run.request, stop$, (subscriber) => adoptedRun(run, subscriber, context), lostExit),
    adopt: async (instanceIds) => {
      const found = await Promise.all(instanceIds.map(find));
      return found.filter((run) => run !== null);
    },
    isOwnLine: (entry) => numberOf(entry) > 0,
    reap: () => context.leftovers.reap((instanceId) => live.has(instanceId)),
    remoteRuns: {
      claim: async (instanceId, request) => processOf(instanceId).claim(request),
      lines: async (instanceId, lines) => processOf(instanceId).lines(lines),
      inbox: async (instanceId, signal) => processOf(instanceId).inbox(signal),
    },
  };

  /** Without asking the engine: it may be away, and its run lives on. */
  async function find(instanceId: string): Promise<FoundRun | null> {
    const record = await records.read(instanceId);
    if (record === null) return null;
    live.add(instanceId);
    return { instanceId, agent: record.agent };
  }
}

/** Leases count elapsed time: a clock that is set must not end them. */
const elapsed = {
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler),
};
