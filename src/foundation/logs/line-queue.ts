import { messageOf } from "../errors.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";

/** Maximum of one append, so that a flood in one file does not delay the others. */
const maxAppendBytes = 1024 * 1024;
/** Minimum of one append if more lines of the file wait. */
export const leastAppendBytes = maxAppendBytes / 2;

/** Lines that wait for the disk, by file: at most `maxBytes` of ASCII. */
export function createLineQueue(maxBytes: number) {
  const waiting = new Map<string, string[]>();
  const drops = new Map<string, number>();
  let bytes = 0;

  const pushAnyway = (name: string, line: string): void => {
    bytes += line.length;
    const lines = waiting.get(name);
    if (lines) lines.push(line);
    else waiting.set(name, [line]);
  };

  const done = (count: number): void => {
    bytes -= count;
  };

  return {
    /** Adds a line, or counts it as dropped if the queue is full. */
    push: (name: string, line: string): void => {
      if (bytes + line.length <= maxBytes) pushAnyway(name, line);
      else drops.set(name, (drops.get(name) ?? 0) + 1);
    },
    /** Adds a line even if the queue is full. */
    pushAnyway,
    /** Files with waiting lines. */
    names: () => [...waiting.keys()],
    isEmpty: () => waiting.size === 0,
    /** All waiting lines of a file; they count as waiting until they are done or put back. */
    take: (name: string): Buffer | null => {
      const lines = waiting.get(name);
      if (lines === undefined) return null;
      const count = fitting(lines);
      const rest = lines.slice(count);
      if (rest.length > 0) waiting.set(name, rest);
      else waiting.delete(name);
      return Buffer.from(lines.slice(0, count).join(""), "latin1");
    },
    done,
    /** Whether no line waits or is being written. */
    isIdle: (): boolean => bytes === 0,
    /** Whether so much waits that new lines may be dropped soon. */
    isHalfFull: () => bytes > maxBytes / 2,
    /** Puts back the taken lines except those that `written` bytes complete. */
    putBack: (name: string, lines: Buffer, written: number): void => {
      // The line that was cut is written again as a whole.
      const from = written === 0 ? 0 : lines.lastIndexOf("\n", written - 1) + 1;
      done(from);
      const text = lines.toString("latin1", from);
      waiting.set(name, [...(text === "" ? [] : [text]), ...(waiting.get(name) ?? [])]);
    },
    /** How many lines of a file were dropped since the last call. */
    dropped: (name: string): number => {
      const count = drops.get(name) ?? 0;
      drops.delete(name);
      return count;
    },
  };
}

/** How many of the lines make one append. */
function fitting(lines: readonly string[]): number {
  let size = 0;
  const tooMany = lines.findIndex((line, i) => (size += line.length) > maxAppendBytes && i > 0);
  return tooMany === -1 ? lines.length : tooMany;
}

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
  const plain = Object.keys(fields).length === 0 ? {} : asData(fields);
  const whole = toLine({ ...head, ...plain, msg });
  if (whole.length <= maxLineBytes) return whole;
  for (const limit of textLimits) {
    const cutFields = JSON.parse(JSON.stringify(plain, cutter(limit))) as object;
    const line = toLine({ ...head, ...cutFields, msg: cut(msg, limit), truncated: true });
    if (line.length <= maxLineBytes) return line;
  }
  return toLine({ ...head, msg: cut(msg, 2_000), truncated: true });
}

/** The fields as plain data; an error of JSON becomes a field instead of being thrown. */
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

/** ASCII, so that no reader ever gets half a character. */
function toLine(value: object): string {
  const ascii = JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${ascii}\n`;
}
