import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { listLogFiles, parseLogFileName, utcDate } from "../../foundation/logs/log-files.ts";
import type { LogFile } from "../../foundation/logs/log-files.ts";
import type { RawLine } from "../../foundation/logs/read-lines.ts";
import { addFile, createDayWriter, dropDay, filesOfDay } from "./day-writer.ts";
import type { IndexedFile, PlacedLine } from "./day-writer.ts";
import { wordsTable } from "./index-format.ts";
import { readableSize } from "./readable.ts";
import { inodeOf, isSameFile, LogCursor, tailOf } from "./log-cursor.ts";

export interface IndexerOptions {
  /** The folder of the log files. */
  readonly dir: string;
  /** Epoch ms. */
  readonly now: () => number;
  /** Bytes of log that one commit takes. */
  readonly sliceBytes?: number;
}

const dayMs = 86_400_000;

/**
 * Brings an index up to date with log files. A commit holds lines together with how far their files are read, so that
 * one that is cut off leaves no line out and none twice. One pass at a time.
 */
export function createIndexer(db: DatabaseSync, options: IndexerOptions) {
  const { dir, now, sliceBytes = 1024 * 1024 } = options;

  /** One that can't be read must not keep the others out of the index. */
  const isReadable = ({ name }: LogFile): boolean => readableSize(join(dir, name)) !== null;

  /** Writes what cursors passed, and how far each is now. */
  const commit = (day: string, { lines, last }: Slice): void => {
    inTransaction(db, () => {
      const writer = createDayWriter(db, day);
      for (const line of lines) writer.add(line);
      const update = db.prepare("UPDATE files SET indexed = ?, tail = ? WHERE id = ?");
      for (const [{ indexed }, line] of last) update.run(line.end, tailOf(line), indexed.id);
    });
  };

  /** Takes lines by time, from whichever file has the next one, so that numbers grow with time. */
  const nextSlice = async (cursors: readonly LogCursor[]): Promise<Slice> => {
    const slice: Slice = { lines: [], last: new Map(), bytes: 0 };
    for (let next = earliest(cursors); next && slice.bytes < sliceBytes; next = earliest(cursors)) {
      const { head, indexed } = next;
      if (head === undefined) break;
      const { line, content } = head;
      if (content) slice.lines.push({ fileId: indexed.id, start: line.start, content });
      slice.last.set(next, line);
      slice.bytes += line.end - line.start;
      await next.advance();
    }
    return slice;
  };

  const indexFiles = async (day: string, files: readonly LogFile[]): Promise<void> => {
    const known = filesOfDay(db, day);
    const cursors: LogCursor[] = [];
    try {
      for (const file of files.filter(isReadable)) {
        const indexed = known.get(file.name) ?? (await newFile(file));
        if (indexed === null) continue;
        const cursor = new LogCursor(dir, file, indexed);
        cursors.push(cursor);
        await cursor.advance();
      }
      for (;;) {
        const startedAt = performance.now();
        const slice = await nextSlice(cursors);
        if (slice.last.size === 0) break;
        commit(day, slice);
        // What is behind is caught up with half of the time: the machine has other work.
        if (slice.bytes >= sliceBytes) await wait(performance.now() - startedAt);
      }
    } finally {
      for (const cursor of cursors) await cursor.close();
    }
  };

  const newFile = async (file: LogFile): Promise<IndexedFile | null> => {
    const inode = await inodeOf(dir, file.name);
    return inode === null ? null : addFile(db, file, inode);
  };

  /** Indexes what is new in files of a day. The day is indexed anew when one of them is not what it was. */
  const indexDay = async (day: string, files: readonly LogFile[]): Promise<void> => {
    const known = filesOfDay(db, day);
    for (const { name } of files) {
      const file = known.get(name);
      if (file === undefined || (await isSameFile(dir, file))) continue;
      dropDay(db, day);
      return indexFiles(day, await filesOn(day));
    }
    await indexFiles(day, files);
  };

  const filesOn = async (day: string): Promise<readonly LogFile[]> =>
    (await listLogFiles(dir, null)).filter(({ date }) => date === day);

  /** A line that was deleted with its log must not be found: its day is indexed anew, or goes with it. */
  const dropDeleted = (files: readonly LogFile[]): void => {
    const names = new Set(files.map(({ name }) => name));
    for (const { day } of db.prepare("SELECT DISTINCT day FROM files").all()) {
      const indexed = [...filesOfDay(db, String(day)).keys()];
      if (!indexed.every((name) => names.has(name))) dropDay(db, String(day));
    }
  };

  /** The words of a day that gets no more lines, in one piece: smaller, and faster to search. */
  const compactDay = (day: string): void => {
    const words = wordsTable(day);
    inTransaction(db, () => {
      db.exec(`INSERT INTO ${words} (${words}) VALUES ('optimize')`);
      db.prepare("UPDATE days SET compact = 1 WHERE day = ?").run(day);
    });
  };

  const compactDays = (): void => {
    const open = utcDate(now() - dayMs);
    const days = db.prepare("SELECT day FROM days WHERE compact = 0 AND day < ?").all(open);
    for (const { day } of days) compactDay(String(day));
    if (days.length > 0) db.exec("PRAGMA incremental_vacuum");
  };

  const passed = (at: number): void => {
    db.prepare("INSERT OR REPLACE INTO passes (id, at) VALUES (1, ?)").run(at);
  };

  return {
    /** Indexes what is new in all log files, the latest day first, and drops what is gone. */
    indexAll: async (): Promise<void> => {
      const startedAt = now();
      const files = await listLogFiles(dir, null);
      dropDeleted(files);
      const days = Map.groupBy(files, ({ date }) => date);
      for (const day of [...days.keys()].sort().reverse()) {
        await indexDay(day, days.get(day) ?? []);
      }
      compactDays();
      passed(startedAt);
    },
    /** Indexes what is new in some log files. */
    indexNew: async (names: readonly string[]): Promise<void> => {
      const startedAt = now();
      const files = names.flatMap((name) => parseLogFileName(name) ?? []);
      for (const [day, ofDay] of Map.groupBy(files, ({ date }) => date)) await indexDay(day, ofDay);
      passed(startedAt);
    },
  };
}

interface Slice {
  readonly lines: PlacedLine[];
  /** The last line of each file. */
  readonly last: Map<LogCursor, RawLine>;
  bytes: number;
}

function earliest(cursors: readonly LogCursor[]): LogCursor | undefined {
  let first: LogCursor | undefined;
  for (const cursor of cursors) {
    if (cursor.head && (first === undefined || cursor.time < first.time)) first = cursor;
  }
  return first;
}

function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec("BEGIN IMMEDIATE");
  try {
    work();
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
