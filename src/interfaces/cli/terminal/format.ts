import type { Problem } from "../../../foundation/errors.ts";
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

/**
 * A text in full sentences. A first word that is not plain is a path, an id or a quotation, and `al` is a command: these
 * keep their case. Indented lines are commands to copy.
 */
function sentence(text: string): string {
  return text
    .replace(/^(?!al\b)[a-z]+(?=[ ,;'’])/, (word) => word.charAt(0).toUpperCase() + word.slice(1))
    .replaceAll(/^\S.*[^.:?!…\s]$/gm, "$&.");
}

/** An error as people read it: what is wrong, and below it what to do. */
export function errorText({ message, hint }: Pick<Problem, "message" | "hint">): string {
  // The error may quote a file, an argument, or the answer of a distant server.
  const lines = [`error: ${sentence(plain(message))}`];
  return [...lines, ...(hint === null ? [] : [`hint: ${sentence(plain(hint))}`])].join("\n");
}
