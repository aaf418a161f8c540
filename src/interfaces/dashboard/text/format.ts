import type { SpendLimit } from "../../../features/spend/spend-report.ts";

/** Epoch ms, or ISO 8601. */
type Moment = number | string;

/** A moment in the reader's locale, to the second, in 24 hours as all times are. */
export function exactTime(time: Moment): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return String(date);
  // The format is created once, as thousands of lines use it, and lazily, as that takes 10 ms.
  exact ??= new Intl.DateTimeFormat(undefined, {
    dateStyle: "medium",
    timeStyle: "medium",
    hourCycle: "h23",
  });
  return exact.format(date);
}

let exact: Intl.DateTimeFormat | undefined;

/** The day of a moment in the reader's locale: `Sunday, November 22, 2026`. */
export function dayText(time: number): string {
  return new Date(time).toLocaleDateString(undefined, { dateStyle: "full" });
}

/** A future moment, to the minute: `Sat, Nov 21, 07:39`; with its year if it is not this one. */
export function dayTime(time: Moment, timeZone = ownTimeZone()): string {
  const isThisYear = new Date(time).getFullYear() === new Date().getFullYear();
  return new Date(time).toLocaleString(undefined, {
    year: isThisYear ? undefined : "numeric",
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone,
  });
}

/** A moment of a list, to the minute: `15:18`; `Nov 21 15:18` on another day, and with its year if it is not this one. */
export function listTime(time: Moment): string {
  const [date, today] = [new Date(time), new Date()];
  const clock = clockTime(time).slice(0, 5);
  if (date.toDateString() === today.toDateString()) return clock;
  const day = date.toLocaleDateString("en", { month: "short", day: "numeric" });
  const isThisYear = date.getFullYear() === today.getFullYear();
  return isThisYear ? `${day} ${clock}` : `${day}, ${date.getFullYear()} ${clock}`;
}

/** The reader's own time zone: `Europe/Berlin`. */
export function ownTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The time of day, to the second, in 24 hours: one width for every line. */
export function clockTime(time: Moment): string {
  return new Date(time).toLocaleTimeString("en-GB");
}

/** A count in few characters: `950`, `12.3k`, `1.2M`. */
export function compactCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  const [unit, sign] = count < 999_500 ? [1000, "k"] : [1_000_000, "M"];
  const value = count / unit;
  return `${value < 9.95 ? value.toFixed(1) : value.toFixed(0)}${sign}`;
}

/** The words of pino's level numbers. */
export function levelName(level: number): "debug" | "info" | "warn" | "error" {
  if (level >= 50) return "error";
  if (level >= 40) return "warn";
  return level >= 30 ? "info" : "debug";
}

/** Whether a limit's window is a day, such as `2026-11-22`; a month is `2026-11`. */
export function isDay({ window }: SpendLimit): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(window);
}

/** A share of a drawing's width. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

/** The parts of a text that there are, in one line. */
export function joined(parts: readonly (string | false | null | undefined)[], by = " · "): string {
  return parts.filter(Boolean).join(by);
}
