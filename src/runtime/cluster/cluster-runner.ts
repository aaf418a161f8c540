import type { StopReason } from "../../../streams/outcomes.ts";
import { stoppedBeforeStart, type Runner } from "../../../streams/runs/runner.ts";
import { asyncScheduler, defer, type Observable } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { RemoteRuns } from "../wire/remote-protocol.ts";
import { endedRun, starting } from "../wire/protocol.ts";
import { reasonOf } from "../../foundation/errors.ts";
import type { Adopter, FoundRun, RunToResume } from "../runners/adopt-runs.ts";
import { asRun, unlessAborted, type RunSubscriber } from "../runners/as-run.ts";
import { lostExit, rejectedExit } from "../runners/run-exit.ts";
import type { ClusterRunnerOptions } from "./cluster-runner-options.ts";
import { watchEngine } from "./engine-watch.ts";
import { createLeftovers } from "./leftovers.ts";
import { newRun } from "./new-run.ts";
import { numberOf, type RemoteProcess } from "./remote-process.ts";
import { followProcess, type ClusterContext, type FollowedRun } from "./follow-process.ts";
import { workDir } from "../runners/container/container-options.ts";

/** Runs each agent by an engine that places it on a machine of a cluster. The engine starts; all else is between the run and the scheduler. */
export function createClusterRunner(options: ClusterRunnerOptions) {
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
    // The run is being adopted.
    if (live.has(instanceId)) throw starting();
    throw endedRun("over");
  };
  const runtime: Runner & Adopter = {
    run: (request, stop$) =>
      followed(request, stop$, (subscriber) => newRun(request, subscriber, context), rejectedExit),
    resume: (run, stop$) =>
      followed(run.request, stop$, (subscriber) => adoptedRun(run, subscriber, context), lostExit),
    adopt: async (instanceIds) => {
      const found = await Promise.all(instanceIds.map(find));
      return found.filter((run) => run !== null);
    },
    isOwnLine: (entry) => numberOf(entry) > 0,
  };
  return {
    ...runtime,
    /** Removes leftovers of runs that this runner neither started nor found, once the engine answers. */
    reap: () => context.leftovers.reap((instanceId) => live.has(instanceId)),
    /** Handlers of the requests that the runs' processes send to the scheduler's door. */
    remoteRuns: {
      claim: async (instanceId, request) => processOf(instanceId).claim(request),
      lines: async (instanceId, lines) => processOf(instanceId).lines(lines),
      inbox: async (instanceId, signal) => processOf(instanceId).inbox(signal),
    } satisfies RemoteRuns,
  };

  /** Does not ask the engine, which may be away while its run lives on. */
  async function find(instanceId: string): Promise<FoundRun | null> {
    const record = await records.read(instanceId);
    if (record === null) return null;
    live.add(instanceId);
    return { instanceId, agent: record.agent };
  }
}

export type ClusterRunner = ReturnType<typeof createClusterRunner>;

/** Leases count elapsed time: a clock change must not end them. */
const elapsed = {
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler),
};

/** Follows a run of an earlier scheduler to its exit. Its lease restarts, as no scheduler was up to renew it. */
async function adoptedRun(
  { request, last }: RunToResume,
  subscriber: RunSubscriber,
  context: ClusterContext,
): Promise<void> {
  const { instanceId } = request;
  const { emit } = subscriber;
  const record = await context.records.read(instanceId);
  try {
    if (record === null) return emit(lostExit("the record of the run was deleted"));
    if (record.exit !== null) {
      emit(record.exit);
      await context.recorded?.();
      return;
    }
    // The job is prepared again, for the secrets in it and for a process that has yet to claim it.
    const job = context.prepare(request, workDir);
    const logged = last === null ? 0 : numberOf(last);
    const run: FollowedRun = { request, job, record, logged, isAdopted: true };
    if (record.node === null && !(await isPrepared(run, subscriber))) return;
    await followProcess(run, subscriber, context, () => Promise.resolve());
  } finally {
    await context.leftovers.remove(instanceId);
  }
}

/** Emits the exit of an unclaimed run whose job can no longer be prepared. */
async function isPrepared({ job }: FollowedRun, { emit, stopping, left }: RunSubscriber) {
  try {
    const over = AbortSignal.any([stopping, left]);
    if ((await unlessAborted(job, over)) !== null) return true;
    emit(stoppedBeforeStart);
  } catch (error) {
    emit(rejectedExit(reasonOf(error)));
  }
  return false;
}
