import { EventEmitter } from "node:events";
import { basename } from "node:path";
import Tail from "tail-file";
import type { RawLine } from "./read-lines.ts";

/** A file that grows, read by tail-file. */
export interface HotTail {
  /** Where the next line starts. */
  position(): number;
  /** Reads what is new. */
  poke(): void;
  stop(): void;
}

/** Where to begin, and in which file: `inode` tells it from one that took its name. */
export interface TailStart {
  readonly path: string;
  readonly offset: number;
  readonly inode: number;
}

/** Longer lines aren't ours; tail-file would hold them whole, and search them from their start with each read. */
const longestLine = 1024 * 1024;
const newline = 0x0a;

/**
 * Follows one file with tail-file from a byte offset. What it does badly by itself is kept from it: it watches
 * nothing (a shared watcher pokes it, else each tail would read at each write to any file of the directory), decodes
 * nothing (one character a byte, so offsets are exact and no character is split), gets no line that is too long, does
 * not look for rotated files, and is given the inode so that stopping it right after its start leaves no file open.
 */
export function startHotTail(
  { path, offset, inode }: TailStart,
  onLine: (line: RawLine) => void,
  onError: (error: unknown) => void,
): HotTail {
  let position = offset;
  let skipping = false;
  /** What is to be added to the line that `tail` has the beginning of: nothing of one that is too long. */
  const fitting = (chunk: Buffer): string => {
    const end = chunk.indexOf(newline);
    const length = tail.txt.length + (end === -1 ? chunk.length : end);
    if (!skipping && length <= longestLine) return chunk.toString("latin1");
    position += tail.txt.length + (end === -1 ? chunk.length : end + 1);
    tail.txt = "";
    skipping = end === -1;
    return end === -1 ? "" : chunk.toString("latin1", end + 1);
  };
  const tail = new Tail(path, {
    pos: offset,
    posNext: 0,
    posSkip: 0,
    ino: inode,
    started: path,
    start: () => undefined,
    secondary: path,
    sepG: /\n/g,
    decode: (chunk: Buffer | null) => {
      if (chunk === null) return tail.onEndOfFile();
      // After the call, which may empty it.
      const more = fitting(chunk);
      tail.txt += more;
      tail.getLine();
    },
    watcher: new EventEmitter(),
    _bufsize: 64 * 1024,
  });
  tail.on("line", (line) => {
    const start = position;
    position += line.length + 1;
    onLine({ start, end: position, text: Buffer.from(line, "latin1").toString() });
  });
  tail.on("error", onError);
  tail.startTail(path);
  return {
    position: () => position,
    poke: () => {
      // Lines that wait to be told are told first: `fitting` takes all that is there for the beginning of one line.
      if (!tail.txt.includes("\n")) tail.checkDir("change", basename(path));
    },
    stop: () => {
      tail.removeAllListeners();
      tail.on("error", () => undefined);
      tail._stop();
    },
  };
}
