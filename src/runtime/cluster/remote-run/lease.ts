/** For how long a run may live without an answer of the scheduler. */
export interface Lease extends Disposable {
  /** The request that was answered was sent at this time, ms of the monotonic clock. */
  renew(sentAt: number): void;
  /** Time since the last answered request was sent, in ms. */
  silentMs(): number;
  /** Resolves when the run has to end itself. */
  readonly expired: Promise<void>;
}

/**
 * A run ends itself after two thirds of its lease: by the time at which the scheduler calls it lost and starts it once
 * more, nothing of it is left. Counted from when a request was sent, as the scheduler counts from when it came.
 */
export function createLease(leaseMs: number, askedAt: number): Lease {
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
    renew: (sentAt) => (renewedAt = Math.max(renewedAt, sentAt)),
    silentMs,
    expired,
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** A lease may be longer than a timer can be, in ms. */
const longestLookMs = 60_000;
