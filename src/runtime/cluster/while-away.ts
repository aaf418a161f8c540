import { setTimeout as wait } from "node:timers/promises";
import { isUnreachable } from "../runners/container/engine.ts";

/** How long a starting run waits for an engine that restarts or changes its leader, in ms. */
const patienceMs = 60_000;
/** Between two tries, in ms: the first, then doubled up to the last. */
const pauseMs = { first: 250, last: 4_000 };

/** Does the work again while its engine is away. The work can be repeated: it may have been done, and its answer lost. */
export async function whileAway<T>(
  work: () => Promise<T>,
  patience = patienceMs,
  pause = pauseMs.first,
): Promise<T> {
  const began = performance.now();
  try {
    return await work();
  } catch (error) {
    if (!isUnreachable(error) || patience <= 0) throw error;
    await wait(pause);
    const left = patience - (performance.now() - began);
    return whileAway(work, left, Math.min(2 * pause, pauseMs.last));
  }
}
