/** A wall time of a time zone, as the epoch ms at which UTC shows that time. */
export interface WallMoments {
  /** Epoch ms at which it is shown, or, if the clock skips it, later by the skipped time. */
  readonly first: number;
  /** The second time, if the clock is set back and shows it twice. */
  readonly second: number | null;
  readonly isSkipped: boolean;
}

/** No zone changes its clock by more, nor twice within this time. */
const largestChangeMs = 3 * 3_600_000;

/** The smallest wall time shown in `timezone` around `moment`, within the longest change before and after. */
export function leastShown(moment: number, timezone: string): number {
  const [before, after] = offsetsAround(moment, largestChangeMs, timezone);
  if (before === after) return moment + before;
  return moment + Math.min(...offsetsAround(moment, Math.abs(after - before), timezone));
}

/** The wall time in `timezone` (IANA name) at a moment. */
export function shownAt(moment: number, timezone: string): number {
  return moment + offsetAt(moment, timezone);
}

/** When a clock in `timezone` (IANA name) shows `wall`. */
export function momentsOf(wall: number, timezone: string): WallMoments {
  const isShown = (moment: number): boolean => moment + offsetAt(moment, timezone) === wall;
  // Longer than any zone's offset from UTC.
  const before = offsetAt(wall - aDayMs, timezone);
  const after = offsetAt(wall + aDayMs, timezone);
  const [first, second] = [wall - before, wall - after];
  if (before === after) return { first, second: null, isSkipped: false };
  if (isShown(first)) {
    return { first, second: isShown(second) ? second : null, isSkipped: false };
  }
  // The result as if the clock had not been changed.
  const isSkipped = !isShown(second);
  return { first: isSkipped ? first : second, second: null, isSkipped };
}

const aDayMs = 86_400_000;

function offsetsAround(moment: number, by: number, timezone: string): readonly [number, number] {
  return [offsetAt(moment - by, timezone), offsetAt(moment + by, timezone)];
}

/** How far the zone is ahead of UTC, in ms. */
function offsetAt(moment: number, timezone: string): number {
  const parts = formatterOf(timezone).formatToParts(moment);
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
  const day = Date.UTC(part("year"), part("month") - 1, part("day"));
  const shown = day + ((part("hour") * 60 + part("minute")) * 60 + part("second")) * 1000;
  return shown - Math.floor(moment / 1000) * 1000;
}

/** Creating one takes longer than all its use. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formatters.set(timeZone, formatter);
  return formatter;
}
