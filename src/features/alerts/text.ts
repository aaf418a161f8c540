import type { AlertSeverity } from "./rules/alert-text.ts";
import { plainText } from "../../foundation/contracts/plain-text.ts";

/** The first `length` characters of a text, the last of them a mark if more was cut off. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  // A pair of surrogates is not cut in two.
  return `${text.slice(0, length - 3).replace(/[\ud800-\udbff]$/, "")}...`;
}

/** Text by strangers as one line, without what would act on a terminal or turn the direction of writing. */
export function oneLine(text: string): string {
  return plainText(text)
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** A red, an orange and a green circle. */
export const severityMarks: Readonly<Record<AlertSeverity, string>> = {
  error: "\u{1f534}",
  warning: "\u{1f7e0}",
  ok: "\u{1f7e2}",
};

/** The label of the link to where a person looks further. */
export const linkLabel = "Open in Almanac";
