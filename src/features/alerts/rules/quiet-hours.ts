import { momentsOf, shownAt } from "../../../../streams/wall-time.ts";
import type { QuietHours } from "../../../../streams/alert-options.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** When the quiet hours end that a moment is in, both epoch ms, by a clock in `timezone` (IANA name); null outside. */
export function quietEnd(
  quiet: QuietHours | null,
  moment: number,
  timezone: string,
): number | null {
  if (quiet === null) return null;
  const shown = shownAt(moment, timezone);
  const ofDay = shown % dayMs;
  const [from, until] = [quiet.from * minuteMs, quiet.until * minuteMs];
  if (!isBetween(ofDay, from, until)) return null;
  const ends = shown - ofDay + until + (ofDay < until ? 0 : dayMs);
  const { first, second } = momentsOf(ends, timezone);
  // Where the clock is turned back, its first end may be over.
  return first > moment ? first : second;
}

/** Over midnight when `from` is the later one. */
function isBetween(time: number, from: number, until: number): boolean {
  return from <= until ? from <= time && time < until : from <= time || time < until;
}
