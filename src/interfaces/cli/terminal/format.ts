import { plainText } from "../../../foundation/contracts/plain-text.ts";

/** Characters that let text be shown in another order than it has. */
const directions = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text that is safe to print on a terminal: texts of a model, a webhook or a log may hold control sequences that
 * recolour, retitle or type. Line breaks and tabs stay.
 */
export function plain(text: string): string {
  return plainText(text).replace(directions, "");
}

/** Cleans untrusted text for one line of a terminal. */
export function plainLine(text: string): string {
  return plain(text).replace(/\s+/g, " ").trim();
}

/** A value as JSON that is safe to print, too: JSON itself escapes only some control characters. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Local time of day of epoch ms or ISO 8601, with the date before it when that is not today: `09:04:05`, `2026-03-01 09:04:05`. */
export function localTime(at: number | string, now: number): string {
  const text = new Date(at).toLocaleString("sv-SE");
  return new Date(at).toDateString() === new Date(now).toDateString() ? text.slice(11) : text;
}
