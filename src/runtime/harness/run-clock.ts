/** How much of the run's time is left. */
export interface RunClock {
  /** In ms; below zero when the run's end is late. */
  remainingMs(): number;
  /** Time in which the run waits for a trigger doesn't count, as it doesn't in the scheduler. */
  pausedFor<Result>(waiting: () => Promise<Result>): Promise<Result>;
}

/** Counts from now on. `elapsed` is a monotonic clock in ms. */
export function createRunClock(
  timeoutSeconds: number,
  elapsed: () => number = () => performance.now(),
): RunClock {
  const started = elapsed();
  let pausedMs = 0;
  let waits = 0;
  let since = 0;
  const pause = () => {
    if (waits === 0) since = elapsed();
    waits += 1;
  };
  const resume = () => {
    waits -= 1;
    if (waits === 0) pausedMs += elapsed() - since;
  };
  return {
    remainingMs: () => timeoutSeconds * 1000 - (elapsed() - started - pausedMs),
    pausedFor: async (waiting) => {
      pause();
      try {
        return await waiting();
      } finally {
        resume();
      }
    },
  };
}
