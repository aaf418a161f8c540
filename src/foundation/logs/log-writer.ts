import { join, dirname } from "node:path";
import { closeSync, fstatSync, mkdirSync, openSync, readSync, write, writeSync } from "node:fs";
import type { Stats } from "node:fs";
import { promisify } from "node:util";
import { Subject } from "rxjs";
import { messageOf, isMissing } from "../errors.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { createLineQueue, formatLine, leastAppendBytes } from "./line-queue.ts";
import { logFileOf, logsDir, parseLogFileName, type LogFile } from "./log-files.ts";
import { wholeLines, type RawLine } from "./read-lines.ts";

/** Options of a log writer. */
export interface LogWriterOptions {
  /** Epoch ms; its UTC date chooses the file. */
  readonly now: () => number;
  /** Called when lines can't be written, at most once a minute. */
  readonly onProblem: (message: string) => void;
  /** Limit of waiting lines on a slow disk, in bytes. */
  readonly maxWaitingBytes?: number;
}

/** Lines that one append brought to a log file. */
export interface AppendedLines {
  readonly file: LogFile;
  readonly inode: number;
  readonly lines: readonly RawLine[];
}

/** A successful append of `data`. */
interface Append {
  readonly name: string;
  readonly inode: number;
  readonly data: Buffer;
  /** Where the data begins in the file. */
  readonly start: number;
}

/** Files open at once: 1000 agents would otherwise open 1000. */
const appendsAtOnce = 16;
const retryAfterMs = 1_000;
const problemEveryMs = 60_000;
const defaultWaitingBytes = 16 * 1024 * 1024;

/**
 * A writer of `.al/logs/<agent>-<UTC date>.log`: ordered per file, one append per file and turn. While the disk fails or
 * stalls, lines wait in bounded memory; beyond that new ones are dropped, and a line counts them.
 */
export function createLogWriter(projectDir: string, options: LogWriterOptions) {
  const { now, onProblem, maxWaitingBytes = defaultWaitingBytes } = options;
  const dir = logsDir(projectDir);
  const append = createAppender();
  const queue = createLineQueue(maxWaitingBytes);
  const appended$ = new Subject<AppendedLines>();
  const grown$ = new Subject<string>();
  let scheduled: NodeJS.Immediate | undefined;
  let retry: NodeJS.Timeout | undefined;
  let reportedAt = -Infinity;

  const report = (error: unknown): void => {
    if (performance.now() - reportedAt < problemEveryMs) return;
    reportedAt = performance.now();
    onProblem(`logs: ${messageOf(error)}`);
  };

  /** Null if it failed. */
  const appendNext = async (name: string): Promise<Append | null> => {
    const data = queue.take(name) ?? Buffer.alloc(0);
    try {
      const { inode, size } = await append(join(dir, name), data);
      queue.done(data.length);
      const dropped = queue.dropped(name);
      if (dropped > 0) queue.pushAnyway(name, droppedLine(name, dropped, now()));
      return { name, inode, data, start: size - data.length };
    } catch (error) {
      queue.putBack(name, data, error instanceof AppendError ? error.written : 0);
      report(error);
      return null;
    }
  };

  const emit = ({ name, inode, data, start }: Append): void => {
    grown$.next(name);
    const file = appended$.observed ? parseLogFileName(name) : null;
    if (file) appended$.next({ file, inode, lines: wholeLines(data, start) });
  };

  /** One append to each file with waiting lines; false if any of them failed. */
  const drain = async (): Promise<boolean> => {
    let succeeded = true;
    const names = queue.names();
    while (names.length > 0) {
      const results = await Promise.all(names.splice(0, appendsAtOnce).map(appendNext));
      succeeded &&= !results.includes(null);
      // Yesterday's lines of an agent waited before today's, and are emitted in this order.
      for (const append of results) if (append) emit(append);
    }
    if (!succeeded) {
      retry ??= setTimeout(() => {
        retry = undefined;
        schedule();
      }, retryAfterMs).unref();
    } else if (!queue.isEmpty()) schedule();
    return succeeded;
  };

  const drainNext = inTurn(drain);

  const schedule = (): void => {
    scheduled ??= setImmediate(() => void startDrain());
  };

  const startDrain = (): Promise<boolean> => {
    clearImmediate(scheduled);
    scheduled = undefined;
    return drainNext();
  };

  /** Until all lines that waited at first are written: new lines may come all the time. */
  const flush = async (): Promise<boolean> => {
    const drains = 1 + Math.ceil(maxWaitingBytes / leastAppendBytes);
    for (let n = 0; n < drains && !queue.isIdle(); n++) if (!(await startDrain())) return false;
    return true;
  };

  return {
    /** Lines that are now in their file: of each agent in the order in which they were written. Hot. */
    appended$: appended$.asObservable(),
    /** The names of files that got lines. Hot. */
    grown$: grown$.asObservable(),
    /** Accepts an entry, which is passed to the disk after this turn of the event loop. Never throws. */
    write: (entry: LogEntry): void => {
      queue.push(fileName(entry, now()), formatLine(entry));
      // While the disk fails, the retry writes the queue.
      if (retry === undefined) schedule();
    },
    /** Resolves with whether everything written so far is in the files; if not, it is retried. */
    flush,
    /** Whether the disk is so far behind that lines may be dropped soon: callers that can wait should. */
    isBehind: (): boolean => queue.isHalfFull(),
    /** Writes all lines that wait; nothing may be written afterwards. */
    close: async (): Promise<void> => {
      while ((await flush()) && !queue.isEmpty());
      clearTimeout(retry);
      if (!queue.isEmpty()) onProblem("logs: the last lines could not be written");
    },
  };
}

export type LogWriter = ReturnType<typeof createLogWriter>;

/** A name that can't be a log file, such as one with a slash, goes to the scheduler's log. */
function fileName(entry: LogEntry, time: number): string {
  const { name } = logFileOf(entry.agent, time);
  return parseLogFileName(name) === null ? logFileOf("scheduler", time).name : name;
}

/** Each call starts `work` once the current one has ended; calls until then share it. */
function inTurn<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  return () => {
    next ??= last.then(() => {
      next = null;
      return work();
    });
    last = next;
    return next;
  };
}

function droppedLine(name: string, dropped: number, time: number): string {
  const agent = parseLogFileName(name)?.agent ?? "scheduler";
  const msg = `${dropped} log lines were dropped here: the disk was too slow`;
  return formatLine({ level: 40, time, agent, msg });
}

/** A failed append. */
class AppendError extends Error {
  /** Bytes of the data that were written. */
  readonly written: number;

  constructor(path: string, written: number, cause: unknown) {
    super(`${path}: ${messageOf(cause)}`, { cause });
    this.name = "AppendError";
    this.written = written;
  }
}

const writeTo = promisify(write);

/** Bytes that the main thread writes itself, which takes it less time than to wake another thread. */
const mostAtOnce = 4 * 1024;

/** Limit of remembered files. */
const mostKnown = 10_000;

/**
 * Appends whole lines to files, each path by one caller at a time. A file is open only meanwhile: quiet agents hold no
 * file open, and a moved file is created again. Only long writes wait for the disk, and so for a thread: every delivery
 * brings a line to another file. Rejects with an AppendError.
 */
function createAppender() {
  /** The inode and the size of files as this process left them, with a whole last line. */
  const whole = new Map<string, string>();
  return async (path: string, data: Buffer) => {
    let written = 0;
    let file: number | null = null;
    try {
      file = openToAppend(path);
      const before = fstatSync(file);
      if (whole.get(path) !== stampOf(before)) endHalfLine(file, before);
      if (data.length <= mostAtOnce) written = writeSync(file, data);
      while (written < data.length) written += (await writeTo(file, data, written)).bytesWritten;
      if (whole.size > mostKnown) whole.clear();
      // Read at once, before another process can append: a follower takes the file's end for the data's end.
      const stats = fstatSync(file);
      whole.set(path, stampOf(stats));
      return { inode: stats.ino, size: stats.size };
    } catch (error) {
      whole.delete(path);
      throw new AppendError(path, written, error);
    } finally {
      if (file !== null) closeSync(file);
    }
  };
}

function stampOf({ ino, size }: Stats): string {
  return `${ino}:${size}`;
}

function openToAppend(path: string): number {
  try {
    return openSync(path, "a+", 0o600);
  } catch (error) {
    if (!isMissing(error)) throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openSync(path, "a+", 0o600);
  }
}

/** A crash or a full disk may have left half a line: the next write starts a new line. */
function endHalfLine(file: number, { size }: Stats): void {
  if (size === 0) return;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  if (last.toString() !== "\n") writeSync(file, "\n");
}
