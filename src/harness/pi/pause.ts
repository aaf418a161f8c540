import { setTimeout as timer } from "node:timers/promises";

/** How the harness waits between two attempts. */
export interface Pause {
  /** Resolves after so many ms, or as soon as the signal aborts. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** From 0 to 1. */
  random(): number;
}

export const realPause: Pause = {
  wait: (ms, signal) => timer(ms, undefined, { signal }).catch(() => undefined),
  random: Math.random,
};
