/** What a clock in `timezone` (IANA name) shows at a moment (epoch ms), as the epoch ms at which UTC shows it. */
export function toWallTime(instant: number, timezone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(instant);
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
  const day = Date.UTC(part("year"), part("month") - 1, part("day"));
  return day + ((part("hour") * 60 + part("minute")) * 60 + part("second")) * 1000;
}

/** The moment at which a clock in `timezone` shows `wall`; one that is skipped comes as much later as was skipped. */
export function toInstant(wall: number, timezone: string): number {
  const offsetAt = (instant: number): number => toWallTime(instant, timezone) - instant;
  const guess = wall - offsetAt(wall);
  return wall - offsetAt(guess);
}
