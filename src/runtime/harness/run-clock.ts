import { setTimeout as sleep } from "node:timers/promises";

/** Measures from now on how much of the run's time is left. `elapsed` is a monotonic clock in ms. */
export function createRunClock(
  timeoutSeconds: number,
  elapsed: () => number = () => performance.now(),
) {
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
  const activeMs = (): number => {
    const now = elapsed();
    return now - started - pausedMs - (waits > 0 ? now - since : 0);
  };
  return {
    /** Time of the run so far in ms, without its waits. */
    activeMs,
    /** The remaining time in ms; negative after the run's timeout. */
    remainingMs: () => timeoutSeconds * 1000 - activeMs(),
    /** Excludes the time of a wait for the scheduler, as the scheduler does. */
    pausedFor: async <Result>(waiting: () => Promise<Result>): Promise<Result> => {
      pause();
      try {
        return await waiting();
      } finally {
        resume();
      }
    },
  };
}

export type RunClock = ReturnType<typeof createRunClock>;

/** Time as the harness counts it; tests have their own. */
export interface Time {
  /** Resolves after so many ms, or as soon as the signal aborts. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** Calls once after so many ms, unless the function that it returns was called before. */
  after(ms: number, call: () => void): () => void;
  /** From 0 to 1. */
  random(): number;
}

/** The longest time that a timer of Node counts, in ms. */
const maxTimerMs = 2 ** 31 - 1;

export const realTime: Time = {
  wait: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
  after: (ms, call) => {
    const timer = setTimeout(call, Math.min(ms, maxTimerMs));
    return () => clearTimeout(timer);
  },
  random: Math.random,
};
