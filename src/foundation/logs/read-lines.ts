import { open, type FileHandle } from "node:fs/promises";
import { ifMissing } from "../errors.ts";

/** A whole line of a file with the bytes it takes, its newline included: `end` is where the next one starts. */
export interface RawLine {
  readonly start: number;
  readonly end: number;
  /** Without the newline. */
  readonly text: string;
}

const chunkBytes = 64 * 1024;
/** The first part of a forward read: for a thousand logs with a new line each, whole chunks would be 64 MB. */
const firstBytes = 4 * 1024;
const newline = 0x0a;
/** A longer line isn't ours; it is skipped rather than held in memory. */
const longestLine = 1024 * 1024;

/** The whole lines of a file from `start` to its current end, without a partial last one. Empty if it is missing. */
export async function* readForward(path: string, start: number): AsyncGenerator<RawLine> {
  // Retention may delete the file at any time.
  await using file = await open(path, "r").catch(ifMissing(null));
  if (file === null) return;
  let position = start;
  let rest = Buffer.alloc(0);
  let length = firstBytes;
  for (let chunk = await readAt(file, start, length); chunk.length > 0;) {
    const data = Buffer.concat([rest, chunk]);
    const lines = wholeLines(data, position);
    yield* lines;
    const end = lines.at(-1)?.end ?? position;
    rest = data.subarray(end - position);
    position = end;
    if (rest.length > longestLine) {
      position = await endOfLine(file, position + rest.length);
      rest = Buffer.alloc(0);
    }
    length = Math.min(2 * length, chunkBytes);
    chunk = position === Infinity ? rest : await readAt(file, position + rest.length, length);
  }
}

/** Reads the next whole lines of a file from an offset on: at least one, none at its end. */
export type ReadLines = (path: string, start: number) => Promise<readonly RawLine[]>;

/** Reads some lines at a time. Readers that request the same lines while these are read share one answer. */
export function createSharedReader(): ReadLines {
  const inFlight = new Map<string, Promise<readonly RawLine[]>>();
  const begin = (path: string, start: number): Promise<readonly RawLine[]> => {
    const key = `${start} ${path}`;
    const known = inFlight.get(key);
    if (known) return known;
    const answer = someLines(path, start).finally(() => inFlight.delete(key));
    inFlight.set(key, answer);
    return answer;
  };
  return async (path, start) => {
    const isShared = inFlight.has(`${start} ${path}`);
    const lines = await begin(path, start);
    // The end found by an earlier read may no longer be the end.
    return isShared && lines.length === 0 ? begin(path, start) : lines;
  };
}

async function someLines(path: string, start: number): Promise<readonly RawLine[]> {
  const lines: RawLine[] = [];
  for await (const line of readForward(path, start)) {
    lines.push(line);
    if (line.end - start >= 4 * chunkBytes) break;
  }
  return lines;
}

/**
 * The whole lines of a file up to `end`, last first, without a partial last one. Empty if the file is missing. Lines
 * for whose joint text `mayMatch` is false are one, with the text of the first of them: most of a log is passed over so.
 */
export async function* readBackward(
  path: string,
  end: number,
  mayMatch: (text: string) => boolean = () => true,
): AsyncGenerator<RawLine> {
  // Retention may delete the file at any time.
  await using file = await open(path, "r").catch(ifMissing(null));
  if (file === null) return;
  // The rest of a line whose start has not been read yet; null inside of half a line, or of one too long.
  let rest: Buffer | null = null;
  for (let to = end; to > 0;) {
    const from = Math.max(0, to - chunkBytes);
    const chunk = await readAt(file, from, to - from);
    const data: Buffer = rest === null ? chunk : Buffer.concat([chunk, rest]);
    // In the rightmost data, the part after the last newline is half a line.
    const firstNewline = from === 0 ? -1 : data.indexOf(newline);
    const whole = data.subarray(firstNewline + 1);
    const offset = from + firstNewline + 1;
    if (mayMatch(whole.toString("latin1"))) yield* wholeLines(whole, offset).reverse();
    else yield* joined(whole, offset);
    const isWithin: boolean = rest === null && firstNewline === -1;
    const keep = firstNewline === -1 ? data : data.subarray(0, firstNewline + 1);
    rest = isWithin || keep.length > longestLine ? null : keep;
    to = from;
  }
}

/** The whole lines in `data`, which lies at `offset` of its file. */
export function wholeLines(data: Buffer, offset: number): RawLine[] {
  const lines: RawLine[] = [];
  let start = 0;
  for (let at = data.indexOf(newline); at !== -1; at = data.indexOf(newline, start)) {
    const text = data.toString("utf8", start, at);
    lines.push({ start: offset + start, end: offset + at + 1, text });
    start = at + 1;
  }
  return lines;
}

/** The whole lines in `data` as one, with the text of the first; none without a whole line. */
function joined(data: Buffer, offset: number): RawLine[] {
  const [first, last] = [data.indexOf(newline), data.lastIndexOf(newline)];
  if (first === -1) return [];
  return [{ start: offset, end: offset + last + 1, text: data.toString("utf8", 0, first) }];
}

/** End of the line that contains `position`; Infinity if it has no end yet. */
async function endOfLine(file: FileHandle, position: number): Promise<number> {
  for (let at = position; ;) {
    const chunk = await readAt(file, at);
    const found = chunk.indexOf(newline);
    if (found !== -1) return at + found + 1;
    if (chunk.length === 0) return Infinity;
    at += chunk.length;
  }
}

async function readAt(file: FileHandle, position: number, length = chunkBytes): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
