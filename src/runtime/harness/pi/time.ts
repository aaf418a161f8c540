import { setTimeout as sleep } from "node:timers/promises";

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
