import { plainText } from "../contracts/plain-text.ts";

/** Characters that let text be shown in another order than it has. */
const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text that is safe to print on a terminal: the words of a model, a webhook or a log may hold control sequences that
 * recolour, retitle or type. Line breaks and tabs stay.
 */
export function plain(text: string): string {
  return plainText(text).replace(directions, "");
}

/** The same on one line. */
export function plainLine(text: string): string {
  return plain(text).replace(/\s+/g, " ").trim();
}

/** A value as JSON that is safe to print, too: JSON itself escapes only some of what a terminal acts on. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A length of time with its two largest units: `840 ms`, `12 s`, `3m 4s`, `2h 5m`, `3d 4h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two(minutes, "m", seconds % 60, "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return two(hours, "h", minutes % 60, "m");
  return two(Math.floor(hours / 24), "d", hours % 24, "h");
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;
}

/** `12s ago`, `in 3m 4s`, `now`; an empty string for null. `iso` is ISO 8601, `now` epoch ms. */
export function relative(iso: string | null, now: number): string {
  if (iso === null) return "";
  const ms = Math.round((Date.parse(iso) - now) / 1000) * 1000;
  if (ms === 0) return "now";
  return ms < 0 ? `${whole(-ms)} ago` : `in ${whole(ms)}`;
}

/** Without fractions: a moment that moves every second needs none. */
function whole(ms: number): string {
  return ms < 10_000 ? `${ms / 1000}s` : duration(ms);
}

/** Local time of day, with the date before it when that is not today: `09:04:05`, `2026-03-01 09:04:05`. */
export function localTime(at: number, now: number): string {
  const moment = new Date(at);
  const time = [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(pad).join(":");
  if (moment.toDateString() === new Date(now).toDateString()) return time;
  const date = [moment.getFullYear(), pad(moment.getMonth() + 1), pad(moment.getDate())].join("-");
  return `${date} ${time}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
