import { join } from "node:path";
import type { Clock } from "../../../streams/clock.ts";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Job } from "../../foundation/contracts/job.ts";
import { mountedSocketDir } from "../../foundation/contracts/run-api.ts";
import { graceFor, stopReasons } from "../../foundation/contracts/run-stop.ts";
import { messageOf } from "../../foundation/errors.ts";
import { withhold } from "../runners/adopted-output.ts";
import { unlessAborted } from "../runners/as-run.ts";
import type { RunSubscriber } from "../runners/as-run.ts";
import { runOutput } from "../runners/run-output.ts";
import type { ClusterRecord } from "./cluster-records.ts";
import type { ClusterRunnerOptions } from "./cluster-runner-options.ts";
import type { EngineWatch } from "./engine-watch.ts";
import type { Leftovers } from "./leftovers.ts";
import { createReceivedLines } from "./received-lines.ts";
import type { ReceivedLines } from "./received-lines.ts";
import { createRemoteProcess } from "./remote-process.ts";
import type { RemoteProcess } from "./remote-process.ts";

/** What all runs of a cluster share. */
export interface ClusterContext extends ClusterRunnerOptions {
  readonly clock: Clock;
  readonly watch: EngineWatch;
  readonly leftovers: Leftovers;
  /** The processes that requests find, by instance. */
  readonly processes: Map<string, RemoteProcess>;
}

/** A run whose process is started, now or by an earlier scheduler. */
export interface FollowedRun {
  readonly request: RunRequest;
  readonly job: Promise<Job>;
  readonly record: ClusterRecord;
  /** Number of its last line in the log; 0 for none. */
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
    await noteExit(run, exit.event, context);
    // What is lost may be tried again at once.
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

/** Written before the exit is reported, as a scheduler that is killed then would find nothing of the run any more. */
async function noteExit(
  { request: { instanceId }, record }: FollowedRun,
  exit: RunnerEvent,
  { records }: ClusterContext,
): Promise<void> {
  await records.write(instanceId, { ...record, exit }).catch((error: unknown) => {
    process.emitWarning(`the exit of ${instanceId} could not be noted: ${messageOf(error)}`);
  });
}

function processOf(
  { request, job, record, logged, isAdopted }: FollowedRun,
  emit: RunSubscriber["emit"],
  waiting: Waiting,
  context: ClusterContext,
): RemoteProcess {
  const { clock, scheduler, flushLogs, records, cluster, redactorFor, onCooldown } = context;
  const { instanceId } = request;
  const receivedWith = (redact: (text: string) => string): ReceivedLines =>
    createReceivedLines({
      logged,
      emit,
      outputTo: (numbered) =>
        runOutput({ request, redact, emit: numbered, onCooldown, isReady: isAdopted }),
    });
  return createRemoteProcess({
    clock,
    scheduler,
    flushLogs,
    leaseMs: record.leaseSeconds * 1000,
    startMs: cluster().startTimeoutSeconds * 1000,
    node: record.node,
    isAdopted,
    job: async () => jobForRemote(await job),
    received: job.then(redactorFor, withhold).then(receivedWith),
    onWaits: waiting.show,
    onClaim: async (node) => {
      await records.write(instanceId, { ...record, node });
      waiting.end();
      context.onClaim?.(instanceId, node);
    },
  });
}

/** The claimer makes its socket itself; the door puts in the token. */
function jobForRemote(job: Job): Job {
  const { channel } = job;
  return {
    ...job,
    channel: channel ?? { socket: join(mountedSocketDir, "channel.sock"), token: "" },
  };
}

/** A run that waits for a machine: its time does not count, and its status says why. */
interface Waiting extends Disposable {
  readonly show: (text: string) => void;
  /** A machine has it. */
  readonly end: () => void;
}

function createWaiting(
  instanceId: string,
  emit: (event: RunnerEvent) => void,
  { pauseClock }: Pick<ClusterRunnerOptions, "pauseClock">,
): Waiting {
  let isShown = false;
  let unpause = pauseClock?.(instanceId);
  const resume = (): void => {
    unpause?.();
    unpause = undefined;
  };
  return {
    show: (text) => {
      isShown = true;
      emit({ type: "status-text", text });
    },
    end: () => {
      resume();
      if (isShown) emit({ type: "status-text", text: "" });
      isShown = false;
    },
    [Symbol.dispose]: resume,
  };
}
