import { statusOf } from "./engine.ts";
import type { Engine } from "./engine.ts";

/** Stops all that runs in a container, until it is unpaused. One that is paused or over is no error. */
export async function pauseContainer(engine: Engine, container: string): Promise<void> {
  await unlessRefused(engine.calls().getContainer(container).pause());
}

/** Resumes a paused container; one that is not paused, or over, is no error. */
export async function unpauseContainer(engine: Engine, container: string): Promise<void> {
  await unlessRefused(engine.calls().getContainer(container).unpause());
}

/** An engine answers 404 when the container is gone, and 409 (older ones 500) when it is so already. */
async function unlessRefused(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (statusOf(error) === null) throw error;
  }
}
