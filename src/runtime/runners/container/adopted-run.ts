import { setTimeout as wait } from "node:timers/promises";
import type { RunnerEvent } from "../../../../streams/runs/runner.ts";
import type { LogEntry } from "../../../../streams/vocabulary.ts";
import type { FoundRun, RunToResume } from "../adopt-runs.ts";
import { adoptedOutput } from "../adopted-output.ts";
import type { RecordedPosition } from "../adopted-output.ts";
import { unlessAborted } from "../as-run.ts";
import type { RunSubscriber } from "../as-run.ts";
import { lostExit } from "../run-exit.ts";
import { workDir } from "./container-options.ts";
import type { ContainerRunnerOptions } from "./container-runner-options.ts";
import { isUnreachable } from "./engine.ts";
import { followLogs, followRun } from "./follow-run.ts";
import { containerName } from "./labels.ts";
import { unpauseContainer } from "./pause-container.ts";
import type { FoundContainer, Reconciler } from "./reconcile.ts";
import type { RunRecords } from "./run-records.ts";
import { removeRun } from "./stop-container.ts";

export interface FoundContainerRun extends FoundRun {
  /** False while the engine is away: it is unknown whether its container is there. */
  readonly sure: boolean;
}

/** The instances whose container exists; while the engine is away, all that may have one. */
export async function foundAmong(
  instanceIds: readonly string[],
  reconciler: Reconciler,
  records: RunRecords,
): Promise<readonly FoundContainerRun[]> {
  const found = await reconciler.find().catch((error: unknown) => {
    if (isUnreachable(error)) return null;
    throw error;
  });
  const there = new Set(found?.map(({ instanceId }) => instanceId) ?? instanceIds);
  const open = instanceIds.filter((instanceId) => there.has(instanceId));
  const runs = open.map(async (instanceId): Promise<FoundContainerRun | null> => {
    const agent = await records.read(instanceId);
    return agent === null ? null : { instanceId, agent, sure: found !== null };
  });
  return (await Promise.all(runs)).filter((run) => run !== null);
}

/** Follows a run that was found to its end. Rejects when its end can't be known. */
export async function adoptedRun(
  run: RunToResume,
  subscriber: RunSubscriber,
  options: ContainerRunnerOptions,
) {
  const { engine, projectDir } = options;
  const container = containerName(projectDir, run.request.instanceId);
  try {
    // It waited for an answer of the scheduler that died.
    await unpauseContainer(engine, container);
    const output = await adoptedOutput(run, { position, emit: subscriber.emit, workDir }, options);
    const source = await followLogs(engine, container, "all");
    source.on("error", () => undefined);
    await followRun({ agent: run.request.agent, container, source, output }, subscriber, options);
  } finally {
    await removeRun(run.request, options);
  }
}

/** The engine's log gives a raw line no time of its own, so only its text shows where it was. */
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

/** Between two tries to reach the engine, in ms: the first, then doubled up to the last. */
const pauseMs = { first: 500, last: 5_000 };

/**
 * Waits for the engine, as long as the run may last, to look for a run of an earlier scheduler that could not be looked
 * for while the engine was away: null when it can be resumed, otherwise its exit.
 */
export async function exitUnlessFound(
  instanceId: string,
  { stopping, left }: RunSubscriber,
  reconciler: Reconciler,
): Promise<RunnerEvent | null> {
  const over = AbortSignal.any([stopping, left]);
  const found = await whenReached(() => reconciler.find(instanceId), over);
  if (found?.length) return null;
  const reason =
    found === null
      ? "the engine was away when the scheduler started, and did not come back in time"
      : "the engine was away when the scheduler started, and the run was gone when it came back";
  return lostExit(reason);
}

async function whenReached(
  find: () => Promise<readonly FoundContainer[]>,
  over: AbortSignal,
): Promise<readonly FoundContainer[] | null> {
  for (let pause = pauseMs.first; !over.aborted; pause = Math.min(2 * pause, pauseMs.last)) {
    try {
      return await find();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
    await unlessAborted(wait(pause), over);
  }
  return null;
}
