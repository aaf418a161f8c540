import { mapTexts } from "../contracts/map-texts.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";

/** The longest line that is written, in bytes, its newline counted. */
export const maxLineBytes = 32 * 1024;

/** Cuts texts to these lengths in turn until the line fits: a character takes up to six bytes. */
const textLimits = [24_000, 5_000, 1_000, 200];

/** Secrets are looked for in this many characters of a text; the rest is never written. */
const longestText = 1_000_000;

/**
 * One line of NDJSON in pino's shape, ASCII with `\u` escapes, at most 32 KiB, newline included. Secrets are
 * replaced before anything is cut, so that no half of one remains; a cut text ends with its length, and a line that
 * was cut has `truncated: true`.
 */
export function formatLine(entry: LogEntry, redact: (text: string) => string): string {
  const { level, time, agent, instanceId, msg, ...fields } = entry;
  const head = { level, time, agent, ...(instanceId === undefined ? {} : { instanceId }) };
  const redacted = clean(fields, redact);
  const text = redact(msg.slice(0, longestText));
  const whole = toLine({ ...head, ...redacted, msg: text });
  if (whole.length <= maxLineBytes) return whole;
  for (const limit of textLimits) {
    const cutFields = JSON.parse(JSON.stringify(redacted, cutter(limit))) as object;
    const line = toLine({ ...head, ...cutFields, msg: cut(text, limit), truncated: true });
    if (line.length <= maxLineBytes) return line;
  }
  return toLine({ ...head, msg: cut(text, 2_000), truncated: true });
}

/** The fields as plain data without secrets; an error of JSON becomes a field, it is not thrown. */
function clean(fields: object, redact: (text: string) => string): object {
  try {
    const texts = mapTexts(fields, (text) => redact(text.slice(0, longestText)));
    return JSON.parse(JSON.stringify(texts)) as object;
  } catch (error) {
    return { fieldsError: redact(error instanceof Error ? error.message : String(error)) };
  }
}

function cutter(limit: number): (key: string, value: unknown) => unknown {
  return (_key, value) => (typeof value === "string" ? cut(value, limit) : value);
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit)}… (cut, ${text.length} characters)`;
}

/** ASCII, so that no reader ever meets half a character. */
function toLine(value: object): string {
  const ascii = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${ascii}\n`;
}
