const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The waits after each failed attempt, in ms; the first attempt is made at once. */
const waits = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];

/** A target that wants to be left alone for longer is asked after this, in ms. */
export const maxAfterMs = 24 * hour;

/**
 * When a delivery is attempted again, epoch ms, after `attempts` that failed; null when the last one did. `afterMs` is
 * what the target asked for: it makes a wait longer, never shorter, because else a target that always answers "at once"
 * would use up all attempts in a second.
 */
export function nextAttempt(attempts: number, afterMs: number | null, now: number): number | null {
  const wait = waits[attempts - 1];
  if (wait === undefined) return null;
  return now + Math.max(wait, Math.min(afterMs ?? 0, maxAfterMs));
}
