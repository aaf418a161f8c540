import type { StopReason } from "../../../../streams/outcomes.ts";
import { stoppedBeforeStart } from "../../../../streams/runs/runner.ts";
import { defer, type Observable } from "rxjs";
import type { Runner } from "../../../../streams/runs/runner.ts";
import type { RunRequest, LogEntry } from "../../../../streams/vocabulary.ts";
import type { Adopter, FoundRun, RunToResume } from "../adopt-runs.ts";
import { asRun, unlessAborted, type RunSubscriber } from "../as-run.ts";
import { lostExit, failedStart, rejectedExit } from "../run-exit.ts";
import type { ContainerRunnerOptions } from "./container-options.ts";
import { engineReason, isUnreachable, type Engine } from "./engine.ts";
import { canFollow, createReconciler, type Reconciler } from "./reconcile.ts";
import { removeRun, unpauseContainer } from "./stop-container.ts";
import { runOutput } from "../run-output.ts";
import { containerOptions, declaredVolumes, workDir } from "./container-options.ts";
import { followRun, followLogs, type OutputStream } from "./follow-run.ts";
import { containerName } from "./labels.ts";
import { setTimeout as wait } from "node:timers/promises";
import { adoptedOutput, type RecordedPosition } from "../adopted-output.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { RecordFiles } from "../record-files.ts";

/**
 * While the engine is unreachable, `adopt` finds all runs that may be on it: `resume` waits for the engine, and a run
 * that is missing there gets the exit `lost`.
 */
export interface ContainerRunner extends Runner, Adopter {
  /**
   * Removes leftovers of the project's runs that this runner neither started nor found from the engine.
   * Rejects when the engine cannot be reached.
   */
  reap(): Promise<void>;
}

/** Runs each agent in a separate container, which is removed at the end of the run. */
export function createContainerRunner(options: ContainerRunnerOptions): ContainerRunner {
  const { engine, projectDir, records } = options;
  const reconciler = createReconciler(engine, projectDir);
  const live = new Set<string>();
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
      followed(run.request, stop$, (subscriber) => adoptedRun(run, subscriber, options)),
    adopt: async (instanceIds) => {
      const found = await foundAmong(instanceIds, reconciler, records);
      for (const { instanceId } of found) live.add(instanceId);
      return found;
    },
    reap: async () => {
      await reconciler.reap(() => live);
      for (const id of await records.list()) if (!live.has(id)) await records.remove(id);
    },
  };
}

/** Where a container is, for people. */
const engineDisk = "the container engine";

/** A run from its image and its job to the end of its container. */
async function newRun(
  request: RunRequest,
  subscriber: RunSubscriber,
  options: ContainerRunnerOptions,
) {
  const { engine, projectDir, records, onCooldown } = options;
  const { emit } = subscriber;
  const over = AbortSignal.any([subscriber.stopping, subscriber.left]);
  const container = containerName(projectDir, request.instanceId);
  let attempted = false;
  let isAsked = false;
  try {
    const made = await unlessAborted(ingredients(request, options), over);
    if (made === null) return emit(stoppedBeforeStart);
    attempted = true;
    await records.write(request.instanceId, request.agent);
    await engine.calls().createContainer(made.options);
    if (over.aborted) return emit(stoppedBeforeStart);
    const source = await started(engine, container);
    const begin = async () => (await options.begin?.(request), true);
    if ((await unlessAborted(begin(), over)) === null) return emit(stoppedBeforeStart);
    isAsked = true;
    source.write(`${JSON.stringify(made.job)}\n`);
    const redact = options.redactorFor(made.job);
    const output = runOutput({ request, redact, emit, onCooldown });
    await followRun({ agent: request.agent, container, source, output }, subscriber, options);
  } catch (error) {
    const reason = engineReason(error);
    emit(isAsked ? rejectedExit(reason) : failedStart(error, engineDisk, reason));
  } finally {
    if (attempted) await removeRun(request, options);
  }
}

async function ingredients(request: RunRequest, options: ContainerRunnerOptions) {
  const { engine, images, prepare } = options;
  const image = await images.imageFor(request.agent);
  const [job, volumes] = await Promise.all([
    prepare(request, workDir),
    declaredVolumes(engine, image),
  ]);
  return { job, options: containerOptions(request, image, volumes, options) };
}

/** Attaches first, so that no output is missed; the input stays open while the run is followed. */
async function started(engine: Engine, container: string): Promise<NodeJS.ReadWriteStream> {
  const stdio = await engine
    .streams()
    .getContainer(container)
    .attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true });
  // `wait` reports the end of a run whose connection broke.
  stdio.on("error", () => undefined);
  await engine.calls().getContainer(container).start();
  return stdio;
}

/** The instances whose container exists; while the engine is away, all that may have one. */
async function foundAmong(
  instanceIds: readonly string[],
  reconciler: Reconciler,
  records: RecordFiles<AgentConfig>,
): Promise<readonly FoundRun[]> {
  const found = await reconciler.find().catch((error: unknown) => {
    if (isUnreachable(error)) return null;
    throw error;
  });
  const open = instanceIds.filter((instanceId) => found?.includes(instanceId) ?? true);
  const runs = open.map(async (instanceId): Promise<FoundRun | null> => {
    const agent = await records.read(instanceId);
    return agent && { instanceId, agent };
  });
  return (await Promise.all(runs)).filter((run) => run !== null);
}

/**
 * Follows a run of an earlier scheduler to its end. Waits for the engine as long as the run may last. Rejects if its end
 * can't be known.
 */
async function adoptedRun(
  run: RunToResume,
  subscriber: RunSubscriber,
  options: ContainerRunnerOptions,
) {
  const { engine, projectDir } = options;
  const { emit, stopping, left } = subscriber;
  const container = containerName(projectDir, run.request.instanceId);
  try {
    const output = await adoptedOutput(run, { position, emit, workDir }, options);
    const over = AbortSignal.any([stopping, left]);
    const source = await onceReached(() => outputSoFar(engine, container), over);
    if (source) {
      const started = { agent: run.request.agent, container, source, output };
      return await followRun(started, subscriber, options);
    }
    // Removed before the exit, as lost work may be retried at once.
    await removeRun(run.request, options);
    const reason =
      source === null
        ? "its container was gone, or had no output, when the scheduler came back"
        : "the engine was down when the scheduler started, and did not come back in time";
    emit(lostExit(reason));
  } finally {
    await removeRun(run.request, options);
  }
}

/** A run's output from its beginning; null if its container can't be followed. */
async function outputSoFar(engine: Engine, container: string): Promise<OutputStream | null> {
  await engine.ping();
  if (!(await canFollow(engine, container))) return null;
  // The container was paused for an answer of the dead scheduler.
  await unpauseContainer(engine, container);
  const source = await followLogs(engine, container, "all");
  return source.on("error", () => undefined);
}

/** The engine's log has no time for a raw line, so only its text shows its position. */
const position: RecordedPosition = {
  isLast: (entry, last) =>
    isRaw(entry) === isRaw(last) &&
    entry.msg === last.msg &&
    (isRaw(entry) || entry.time === last.time),
  isLater: (entry, last) => !isRaw(entry) && entry.time > last.time,
};

function isRaw({ kind }: LogEntry): boolean {
  return kind === "process";
}

/** Time between two attempts to reach the engine, in ms: the first, then doubled up to the last. */
const pauseMs = { first: 500, last: 5_000 };

/** The result of `attempt` once the engine answers; undefined if `over` is aborted before. */
async function onceReached<T>(
  attempt: () => Promise<T>,
  over: AbortSignal,
): Promise<T | undefined> {
  for (let pause = pauseMs.first; ; pause = Math.min(2 * pause, pauseMs.last)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
    if (over.aborted) return undefined;
    await unlessAborted(wait(pause), over);
  }
}
