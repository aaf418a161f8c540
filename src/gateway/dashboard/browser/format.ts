const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How far a moment is away, in words: `12 s ago`, `in 3 min`. Times are epoch ms. */
export function relativeTime(time: number, now: number): string {
  const distance = Math.abs(time - now);
  if (distance < second) return "now";
  const words = distanceWords(distance);
  return time < now ? `${words} ago` : `in ${words}`;
}

function distanceWords(ms: number): string {
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)} h`;
  return `${Math.floor(ms / day)} days`;
}

/** A moment as the reader's own place writes it, to the second, in 24 hours as all times are. */
export function exactTime(time: number): string {
  return new Date(time).toLocaleString(undefined, {
    dateStyle: "medium",
    timeStyle: "medium",
    hourCycle: "h23",
  });
}

/** The day of a moment in the reader's own place: `Sunday, November 22, 2026`. */
export function dayText(time: number): string {
  return new Date(time).toLocaleDateString(undefined, { dateStyle: "full" });
}

/** A moment to come, to the minute: `Sat, Nov 21, 07:39`; with its year when that is not this one. */
export function dayTime(time: number, timeZone = ownTimeZone()): string {
  const isThisYear = new Date(time).getFullYear() === new Date().getFullYear();
  return new Date(time).toLocaleString(undefined, {
    ...(isThisYear ? {} : { year: "numeric" }),
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone,
  });
}

/** The reader's own time zone: `Europe/Berlin`. */
export function ownTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The time of day, to the second, in 24 hours: one width for every line. */
export function clockTime(time: number): string {
  return new Date(time).toLocaleTimeString("en-GB");
}

/** A length of time with about two digits that matter: `400 ms`, `1.2 s`, `3 min 05 s`, `2 h 10 min`. */
export function durationText(ms: number): string {
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 10 * second) return `${(ms / second).toFixed(1)} s`;
  const seconds = Math.round(ms / second);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)} min ${padded(seconds % 60)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${padded(minutes % 60)} min`;
}

function padded(value: number): string {
  return String(value).padStart(2, "0");
}

/** A number with its word: `1 agent`, `3 agents`. */
export function counted(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

/** A count in few characters: `950`, `12.3k`, `1.2M`. */
export function compactCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  const [unit, sign] = count < 999_500 ? [1000, "k"] : [1_000_000, "M"];
  const value = count / unit;
  return `${value < 9.95 ? value.toFixed(1) : value.toFixed(0)}${sign}`;
}

/** US dollars: `$0`, `$0.0012`, `$1.20`. */
export function costText(usd: number): string {
  if (usd === 0) return "$0";
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

/** An outcome as it is said: `timed out`. */
export function outcomeText(outcome: string): string {
  return outcome.replaceAll("_", " ");
}

/** The words of pino's level numbers. */
export function levelName(level: number): "debug" | "info" | "warn" | "error" {
  if (level >= 50) return "error";
  if (level >= 40) return "warn";
  return level >= 30 ? "info" : "debug";
}
