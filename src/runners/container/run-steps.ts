import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { graceFor } from "../../contracts/run-stop.ts";
import type { Life } from "../as-run.ts";
import { runOutput } from "../run-output.ts";
import type { RunOutput } from "../run-output.ts";
import type { ContainerRunnerOptions } from "./container-runner-options.ts";
import { engineReason } from "./engine.ts";
import { followRun } from "./follow-run.ts";
import type { OutputStream } from "./follow-run.ts";
import { containerName } from "./labels.ts";
import { lostExit } from "../run-exit.ts";
import { removeContainer } from "./stop-container.ts";

const defaultEngineGraceMs = 60_000;

/** A container that was started. */
interface Started {
  readonly agent: AgentConfig;
  /** Its name. */
  readonly container: string;
  /** Its output, from its beginning. */
  readonly source: OutputStream;
  readonly output: RunOutput;
}

/** Follows a started container and emits its exit. */
export async function follow(
  { agent, container, source, output }: Started,
  { emit, stopping, left }: Life,
  options: ContainerRunnerOptions,
) {
  const { engine, engineGraceMs = defaultEngineGraceMs } = options;
  const graceMs = graceFor(agent, options.graceMs);
  try {
    const exit = await followRun({
      ...{ engine, container, source, output, stopping, left, graceMs, engineGraceMs },
    });
    if (exit !== null) emit(exit);
  } catch (error) {
    emit(lostExit(engineReason(error), output.end()));
  }
}

/** The record stays with a container that could not be removed, so that the next scheduler looks for it. */
export async function leaveNothing(
  { instanceId }: RunRequest,
  { engine, projectDir, records }: ContainerRunnerOptions,
): Promise<void> {
  const gone = await removeContainer(engine, containerName(projectDir, instanceId));
  if (gone) await records.remove(instanceId);
}

/** What takes a run's output and emits its events. */
export function outputOf(
  request: RunRequest,
  redact: (text: string) => string,
  emit: (event: RunnerEvent) => void,
  { onCooldown }: ContainerRunnerOptions,
): RunOutput {
  return runOutput({ request, redact, emit, onCooldown });
}
