import { pause } from "../helpers/pause.ts";
import type { TestScheduler } from "../helpers/scheduler.ts";
import { takeSample } from "./soak/probed.ts";

/** The longest that the event loop of a scheduler with the probe stood still while something was done, in ms. */
export async function longestBlock<T>(
  scheduler: TestScheduler,
  during: () => Promise<T>,
): Promise<{ readonly ms: number; readonly result: T }> {
  await takeSample(scheduler, performance.now());
  await pause(300, "the probe's own collection of garbage is not counted");
  const result = await during();
  const { delayMs } = await takeSample(scheduler, performance.now());
  return { ms: delayMs.max, result };
}
