import { setTimeout as wait } from "node:timers/promises";

/**
 * How long a run may live without an answer of the scheduler: after two thirds of its lease it ends itself. So it has
 * ended before the scheduler declares it lost and starts it again. Counted from when a request was sent, as the
 * scheduler counts from its arrival.
 */
export function createLease(leaseMs: number, askedAt: number) {
  const limitMs = (leaseMs * 2) / 3;
  let renewedAt = askedAt;
  let timer: NodeJS.Timeout | undefined;
  const silentMs = () => performance.now() - renewedAt;
  const expired = new Promise<void>((resolve) => {
    const look = () => {
      const leftMs = limitMs - silentMs();
      if (leftMs <= 0) return resolve();
      timer = setTimeout(look, Math.min(leftMs, longestLookMs));
    };
    look();
  });
  return {
    /** The answered request was sent at this time, ms of the monotonic clock. */
    renew: (sentAt: number) => void (renewedAt = Math.max(renewedAt, sentAt)),
    /** Time since the last answered request was sent, in ms. */
    silentMs,
    /** Resolves when the run must end itself. */
    expired,
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** A lease may be longer than the longest timer, in ms. */
const longestLookMs = 60_000;

const firstMs = 100;
const longestMs = 5_000;

/**
 * Pauses with jitter (50 to 150 %), so that a thousand runs don't reconnect to a scheduler at the same moment. They
 * double up to `maxMs`.
 */
export function createPauses(maxMs: number, random: () => number = Math.random) {
  const greatest = Math.min(maxMs, longestMs);
  let ms = firstMs;
  return {
    /** Resolves after the next pause, or when `signal` aborts. */
    next: async (signal: AbortSignal) => {
      const pauseMs = Math.min(greatest, ms) * (0.5 + random());
      ms = Math.min(greatest, ms * 2);
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
    },
    /** An attempt succeeded. */
    reset: () => (ms = firstMs),
  };
}
