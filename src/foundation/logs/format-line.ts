import { messageOf } from "../errors.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";

/** The longest line that is written, in bytes, its newline counted. */
export const maxLineBytes = 32 * 1024;

/** Cuts texts to these lengths in turn until the line fits: a character takes up to six bytes. */
const textLimits = [24_000, 5_000, 1_000, 200];

/**
 * One line of NDJSON in pino's shape, ASCII with `\u` escapes, at most 32 KiB, newline included. The entry is already
 * without secrets. A cut text ends with its length, and a line that was cut has `truncated: true`.
 */
export function formatLine(entry: LogEntry): string {
  const { level, time, agent, instanceId, msg, ...fields } = entry;
  const head = { level, time, agent, ...(instanceId === undefined ? {} : { instanceId }) };
  const plain = asData(fields);
  const whole = toLine({ ...head, ...plain, msg });
  if (whole.length <= maxLineBytes) return whole;
  for (const limit of textLimits) {
    const cutFields = JSON.parse(JSON.stringify(plain, cutter(limit))) as object;
    const line = toLine({ ...head, ...cutFields, msg: cut(msg, limit), truncated: true });
    if (line.length <= maxLineBytes) return line;
  }
  return toLine({ ...head, msg: cut(msg, 2_000), truncated: true });
}

/** The fields as plain data; an error of JSON becomes a field, it is not thrown. */
function asData(fields: object): object {
  try {
    return JSON.parse(JSON.stringify(fields)) as object;
  } catch (error) {
    return { fieldsError: messageOf(error) };
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
