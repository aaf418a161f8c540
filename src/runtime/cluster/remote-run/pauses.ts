import { setTimeout as wait } from "node:timers/promises";

const firstMs = 100;
const longestMs = 5_000;

/** The pauses between attempts: each about twice as long as the one before. */
export interface Pauses {
  /** Resolves after the next one, or when `signal` aborts. */
  next(signal: AbortSignal): Promise<void>;
  /** An attempt succeeded. */
  reset(): void;
}

/**
 * Pauses of 50 to 150 % of what is meant, so that a thousand runs don't come back to a scheduler at the same moment;
 * none is longer than `maxMs`.
 */
export function createPauses(maxMs: number, random: () => number = Math.random): Pauses {
  const greatest = Math.min(maxMs, longestMs);
  let ms = firstMs;
  return {
    next: async (signal) => {
      const pauseMs = Math.min(greatest, ms) * (0.5 + random());
      ms = Math.min(greatest, ms * 2);
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
    },
    reset: () => (ms = firstMs),
  };
}
