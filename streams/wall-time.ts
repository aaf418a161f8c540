/** A wall time of a time zone is the epoch ms at which UTC shows that time. */
export interface WallMoments {
  /** Epoch ms at which it is shown, or, where the clock skips it, as much later as was skipped. */
  readonly first: number;
  /** The second time where the clock is turned back and shows it twice. */
  readonly second: number | null;
  readonly isSkipped: boolean;
}

/** No zone changes its clock by more, nor twice in as long. */
const largestChangeMs = 3 * 3_600_000;

/** The least that a clock in `timezone` shows around `moment`, as long before and after as a change there takes. */
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
  // A day is more than any zone is ahead of UTC or behind.
  const before = offsetAt(wall - aDayMs, timezone);
  const after = offsetAt(wall + aDayMs, timezone);
  const [first, second] = [wall - before, wall - after];
  if (before === after) return { first, second: null, isSkipped: false };
  if (isShown(first)) {
    return { first, second: isShown(second) ? second : null, isSkipped: false };
  }
  // As if the clock had not been changed.
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

/** Making one takes longer than all that is done with it. */
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
