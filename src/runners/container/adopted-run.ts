import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { LogEntry, RunRequest } from "../../../streams/vocabulary.ts";
import type { Life } from "../as-run.ts";
import { eventsAfter } from "../events-after.ts";
import type { RecordedPlace } from "../events-after.ts";
import { redactorOf } from "../redactor-of.ts";
import { workDir } from "./container-options.ts";
import type { ContainerRunnerOptions } from "./container-runner-options.ts";
import { isUnreachable } from "./engine.ts";
import { followLogs } from "./follow-run.ts";
import { containerName } from "./labels.ts";
import { unpauseContainer } from "./pause-container.ts";
import type { Reconciler } from "./reconcile.ts";
import type { RunRecords } from "./run-records.ts";
import { follow, leaveNothing, outputOf } from "./run-steps.ts";

/** A run that an earlier scheduler started and that can be gone on with, with the config that it started with. */
export interface FoundContainerRun {
  readonly instanceId: string;
  readonly agent: AgentConfig;
  /** False while the engine is away: it is unknown whether its container is there. */
  readonly sure: boolean;
}

/**
 * Those of the instances whose container is there, with what they were started with; all that may be there while the
 * engine is away.
 */
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
  request: RunRequest,
  last: LogEntry | null,
  life: Life,
  options: ContainerRunnerOptions,
) {
  const { engine, projectDir } = options;
  const container = containerName(projectDir, request.instanceId);
  try {
    // It waited for something that the scheduler which died was to tell it of.
    await unpauseContainer(engine, container);
    const redact = await redactorOf(request, workDir, options);
    const output = outputOf(request, redact, eventsAfter(last, place, life.emit), options);
    const source = await followLogs(engine, container, "all");
    source.on("error", () => undefined);
    await follow({ agent: request.agent, container, source, output }, life, options);
  } finally {
    await leaveNothing(request, options);
  }
}

/** The engine's log gives a raw line no time of its own, so only its text tells where it was. */
const place: RecordedPlace = {
  isLast: (entry, last) =>
    isRaw(entry) === isRaw(last) &&
    entry.msg === last.msg &&
    (isRaw(entry) || entry.time === last.time),
  isLater: (entry, last) => !isRaw(entry) && entry.time > last.time,
};

function isRaw({ kind }: LogEntry): boolean {
  return kind === "process";
}
