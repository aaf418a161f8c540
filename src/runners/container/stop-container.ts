import { messageOf } from "../../errors.ts";
import { statusOf } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { unpauseContainer } from "./pause-container.ts";

/** Sends TERM once `stopping` is aborted and KILL after the grace period. Returns what calls it off. */
export function endWhenAsked(run: {
  readonly engine: Engine;
  readonly container: string;
  readonly stopping: AbortSignal;
  readonly graceMs: number;
}): () => void {
  const { stopping } = run;
  let grace: NodeJS.Timeout | undefined;
  const signal = (name: "SIGTERM" | "SIGKILL") => {
    const container = run.engine.calls().getContainer(run.container);
    // A run that waits is paused, and a paused one hears no signal.
    unpauseContainer(run.engine, run.container)
      .then(() => container.kill({ signal: name }))
      // It may be over by now; an engine that is away ends the following, which asks again when it is back.
      .catch(() => undefined);
  };
  const ask = () => {
    signal("SIGTERM");
    grace = setTimeout(() => signal("SIGKILL"), run.graceMs);
  };
  if (stopping.aborted) ask();
  stopping.addEventListener("abort", ask, { once: true });
  return () => {
    clearTimeout(grace);
    stopping.removeEventListener("abort", ask);
  };
}

/**
 * Kills and removes a container with its volumes. One that is gone or going is no error, nor is its engine: then it is
 * left, and false is returned.
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
