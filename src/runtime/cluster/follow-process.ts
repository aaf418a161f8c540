import { stopReasons } from "../../../streams/outcomes.ts";
import type { Clock } from "../../../streams/clock.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import { graceFor } from "../wire/run-stop.ts";
import { messageOf } from "../../foundation/errors.ts";
import { withhold } from "../runners/adopted-output.ts";
import { unlessAborted, type RunSubscriber } from "../runners/as-run.ts";
import { runOutput } from "../runners/run-output.ts";
import type { ClusterRunnerOptions, ClusterRecord } from "./cluster-runner-options.ts";
import type { EngineWatch } from "./engine-watch.ts";
import type { Leftovers } from "./leftovers.ts";
import { createRemoteProcess, createReceivedLines, type RemoteProcess } from "./remote-process.ts";

/** Dependencies that all runs of a cluster share. */
export interface ClusterContext extends ClusterRunnerOptions {
  readonly clock: Clock;
  readonly watch: EngineWatch;
  readonly leftovers: Leftovers;
  /** The processes that requests are for, by instance. */
  readonly processes: Map<string, RemoteProcess>;
}

/** A run whose process is started, by this or an earlier scheduler. */
export interface FollowedRun {
  readonly request: RunRequest;
  readonly job: Promise<Job>;
  readonly record: ClusterRecord;
  /** Number of its last logged line; 0 for none. */
  readonly logged: number;
  /** Whether an earlier scheduler started it. */
  readonly isAdopted: boolean;
}

/**
 * Answers the run's requests from now on, and emits its exit, unless the subscriber leaves. `start` resolves when the
 * engine has the run.
 */
export async function followProcess(
  run: FollowedRun,
  subscriber: RunSubscriber,
  context: ClusterContext,
  start: (onWaits: (text: string) => void) => Promise<void>,
): Promise<void> {
  const { instanceId } = run.request;
  const { emit, left } = subscriber;
  using waiting = createWaiting(instanceId, emit, context);
  const remote = processOf(run, emit, waiting, context);
  context.processes.set(instanceId, remote);
  if (run.record.node !== null) waiting.end();
  let unwatch: (() => void) | null = null;
  try {
    await start(waiting.show);
    remote.begin();
    stopWhenAsked(remote, run, subscriber, context);
    unwatch = context.watch.add(instanceId, remote);
    const exit = await unlessAborted(remote.exit, left);
    if (exit === null) return;
    // Recorded before the exit is reported: after a crash the next scheduler would find no trace of the run.
    await context.records
      .write(instanceId, { ...run.record, exit: exit.event })
      .catch((error: unknown) => {
        process.emitWarning(`the exit of ${instanceId} could not be recorded: ${messageOf(error)}`);
      });
    // Removed before the exit, as lost work may be retried at once.
    if (!exit.isReported) await context.leftovers.remove(instanceId);
    emit(exit.event);
    await context.recorded?.();
  } finally {
    unwatch?.();
    remote.close();
    context.processes.delete(instanceId);
  }
}

function stopWhenAsked(
  remote: RemoteProcess,
  { request: { agent } }: FollowedRun,
  { stopping }: RunSubscriber,
  { graceMs }: ClusterContext,
): void {
  const stop = (): void => {
    const reason = stopReasons.find((one) => one === stopping.reason) ?? "interrupted";
    remote.stop(reason, graceFor(agent, graceMs));
  };
  if (stopping.aborted) stop();
  else stopping.addEventListener("abort", stop, { once: true });
}

function processOf(
  { request, job, record, logged, isAdopted }: FollowedRun,
  emit: RunSubscriber["emit"],
  waiting: ReturnType<typeof createWaiting>,
  context: ClusterContext,
): RemoteProcess {
  const { clock, scheduler, flushLogs, records, cluster, redactorFor, onCooldown } = context;
  const { instanceId } = request;
  const receivedWith = (redact: (text: string) => string) =>
    createReceivedLines(logged, emit, (numbered) =>
      runOutput({ request, redact, emit: numbered, onCooldown, isReady: isAdopted }),
    );
  return createRemoteProcess({
    clock,
    scheduler,
    flushLogs,
    leaseMs: record.leaseSeconds * 1000,
    startMs: cluster().startTimeoutSeconds * 1000,
    node: record.node,
    isAdopted,
    job: () => job,
    received: job.then(redactorFor, withhold).then(receivedWith),
    onWaits: waiting.show,
    onClaim: async (node) => {
      await records.write(instanceId, { ...record, node });
      waiting.end();
      context.onClaim?.(instanceId, node);
    },
  });
}

/** A run that waits for a machine: its clock is paused, and its status shows the reason. */
function createWaiting(
  instanceId: string,
  emit: (event: RunnerEvent) => void,
  { pauseClock }: ClusterContext,
) {
  const waiting = new DisposableStack();
  const resume = pauseClock?.(instanceId);
  if (resume !== undefined) waiting.defer(resume);
  let isShown = false;
  return {
    show: (text: string) => {
      isShown = true;
      emit({ type: "status-text", text });
    },
    /** Clears it: the run is claimed. */
    end: () => {
      waiting.dispose();
      if (isShown) emit({ type: "status-text", text: "" });
      isShown = false;
    },
    [Symbol.dispose]: () => waiting.dispose(),
  };
}
