import type { RunRequest } from "../../../../streams/vocabulary.ts";
import { messageOf } from "../../../foundation/errors.ts";
import type { ContainerRunnerOptions } from "./container-options.ts";
import { statusOf, type Engine } from "./engine.ts";
import { containerName } from "./labels.ts";

/** Sends TERM once `stopping` is aborted and KILL after the grace period. Returns a function that cancels both. */
export function endWhenAsked(
  engine: Engine,
  name: string,
  { stopping, graceMs }: { readonly stopping: AbortSignal; readonly graceMs: number },
): () => void {
  let grace: NodeJS.Timeout | undefined;
  const send = (signal: "SIGTERM" | "SIGKILL") => {
    const container = engine.calls().getContainer(name);
    // A waiting run is paused, and a paused one gets no signal.
    unpauseContainer(engine, name)
      .then(() => container.kill({ signal }))
      // The run may have ended. If the engine is unreachable, its follower repeats the request once the engine is back.
      .catch(() => undefined);
  };
  const ask = () => {
    send("SIGTERM");
    grace = setTimeout(() => send("SIGKILL"), graceMs);
  };
  if (stopping.aborted) ask();
  stopping.addEventListener("abort", ask, { once: true });
  return () => {
    clearTimeout(grace);
    stopping.removeEventListener("abort", ask);
  };
}

/**
 * Kills and removes a container with its volumes. A container that is gone or being removed is not an error. If the
 * engine is away, the container stays and false is returned.
 */
export async function removeContainer(engine: Engine, container: string): Promise<boolean> {
  try {
    await engine.calls().getContainer(container).remove({ force: true, v: true });
  } catch (error) {
    // 409: another client of the engine is removing it.
    if ([404, 409].includes(statusOf(error) ?? 0)) return true;
    process.emitWarning(`a run's container is left until the engine is back: ${messageOf(error)}`);
    return false;
  }
  return true;
}

/** The record of a container that could not be removed stays, so that the next scheduler finds it. */
export async function removeRun(
  { instanceId }: RunRequest,
  { engine, projectDir, records }: ContainerRunnerOptions,
): Promise<void> {
  const gone = await removeContainer(engine, containerName(projectDir, instanceId));
  if (gone) await records.remove(instanceId);
}

/** Stops all processes of a container until it is unpaused. Pausing a paused or ended one is not an error. */
export async function pauseContainer(engine: Engine, container: string): Promise<void> {
  await unlessRefused(engine.calls().getContainer(container).pause());
}

/** Resumes a paused container; unpausing one that runs or has ended is not an error. */
export async function unpauseContainer(engine: Engine, container: string): Promise<void> {
  await unlessRefused(engine.calls().getContainer(container).unpause());
}

/** An engine answers 404 if the container is gone, and 409 (older ones 500) if it is already in this state. */
async function unlessRefused(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (statusOf(error) === null) throw error;
  }
}
