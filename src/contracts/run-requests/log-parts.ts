/**
 * A piece of a log line: own words, or what came from a run. `code` is a name or a short value, `block` a text or
 * JSON on lines of its own, `text` words, `seconds` a length of time, `time` a moment (ISO 8601).
 */
export type LogPart =
  | string
  | { readonly code: unknown }
  | { readonly block: unknown }
  | { readonly text: unknown }
  | { readonly seconds: number }
  | { readonly time: unknown };
export type LogParts = readonly LogPart[];

/** A time limit after the words that lead to it; nothing where there is no limit. */
export function limitParts(words: string, seconds: unknown): LogParts {
  return typeof seconds === "number" && seconds > 0 ? [words, { seconds }] : [];
}
