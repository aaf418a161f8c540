import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { listLogFiles, parseLogFileName, utcDate } from "../../foundation/logs/log-files.ts";
import type { LogFile } from "../../foundation/logs/log-files.ts";
import type { RawLine } from "../../foundation/logs/read-lines.ts";
import type { PlacedLine } from "./index-format.ts";
import { wordsTable, addFile, dropDay, filesOfDay, writeLines } from "./index-format.ts";
import { inodeOf, isSameFile, LogCursor, readableSize, tailOf } from "./log-cursor.ts";

export interface IndexerOptions {
  /** The folder of the log files. */
  readonly dir: string;
  /** Epoch ms. */
  readonly now: () => number;
  /** Bytes of log in one commit. */
  readonly sliceBytes?: number;
  /** Uses only half of the time: the machine has other work. */
  readonly isBackground?: boolean;
}

const dayMs = 86_400_000;

/**
 * Brings an index up to date with log files. A commit holds lines together with how far their files are read, so that
 * an interrupted pass neither omits a line nor stores it twice. Several processes may index at once.
 */
export function createIndexer(db: DatabaseSync, options: IndexerOptions) {
  const { dir, now, sliceBytes = 1024 * 1024, isBackground = false } = options;

  const isReadable = ({ name }: LogFile): boolean => readableSize(join(dir, name)) !== null;

  /** Indexes the new lines of a day's files; begins anew when another process committed some of them. */
  const indexFiles = async (day: string, files: readonly LogFile[]): Promise<void> => {
    let isDone = false;
    while (!isDone) {
      const cursors = await openCursors(day, files.filter(isReadable));
      try {
        isDone = await indexLines(day, cursors);
      } finally {
        for (const cursor of cursors) await cursor.close();
      }
    }
  };

  const openCursors = async (day: string, files: readonly LogFile[]): Promise<LogCursor[]> => {
    for (const file of files) {
      const inode = await inodeOf(dir, file.name);
      if (inode !== null) addFile(db, file, inode);
    }
    const known = filesOfDay(db, day);
    const cursors = files.flatMap((file) => {
      const indexed = known.get(file.name);
      return indexed === undefined ? [] : [new LogCursor(dir, file, indexed)];
    });
    for (const cursor of cursors) await cursor.advance();
    return cursors;
  };

  /** False if another process committed some of the lines. */
  const indexLines = async (day: string, cursors: readonly LogCursor[]): Promise<boolean> => {
    for (;;) {
      const startedAt = performance.now();
      const slice = await nextSlice(cursors, sliceBytes);
      if (slice.last.size === 0) return true;
      if (!commit(db, day, slice)) return false;
      const isMore = slice.bytes >= sliceBytes;
      if (isBackground && isMore) await wait(performance.now() - startedAt);
    }
  };

  /** Indexes the new lines of a day's files. If one of them was replaced, the whole day is indexed again. */
  const indexDay = async (day: string, files: readonly LogFile[]): Promise<void> => {
    const known = filesOfDay(db, day);
    for (const { name } of files) {
      const file = known.get(name);
      if (file === undefined || (await isSameFile(dir, file))) continue;
      dropDay(db, day);
      const all = await listLogFiles(dir, null);
      return indexFiles(
        day,
        all.filter(({ date }) => date === day),
      );
    }
    await indexFiles(day, files);
  };

  return {
    /** Indexes the new lines of all log files, the latest day first, and drops days with deleted files. */
    indexAll: async (): Promise<void> => {
      const startedAt = now();
      const files = await listLogFiles(dir, null);
      dropDeleted(db, files);
      const days = Map.groupBy(files, ({ date }) => date);
      for (const day of [...days.keys()].sort().reverse()) {
        await indexDay(day, days.get(day) ?? []);
      }
      compactDays(db, now());
      db.prepare("INSERT OR REPLACE INTO passes (id, at) VALUES (1, ?)").run(startedAt);
    },
    /** Indexes the new lines of some log files. */
    indexNew: async (names: readonly string[]): Promise<void> => {
      const startedAt = now();
      const files = names.flatMap((name) => parseLogFileName(name) ?? []);
      for (const [day, ofDay] of Map.groupBy(files, ({ date }) => date)) await indexDay(day, ofDay);
      // Before the first pass over all files, earlier days may be missing.
      db.prepare("UPDATE passes SET at = ?").run(startedAt);
    },
  };
}

/** Lines of a deleted log must not be found: their day is indexed again or deleted. */
function dropDeleted(db: DatabaseSync, files: readonly LogFile[]): void {
  const names = new Set(files.map(({ name }) => name));
  for (const { day } of db.prepare("SELECT DISTINCT day FROM files").all()) {
    const indexed = [...filesOfDay(db, String(day)).keys()];
    if (!indexed.every((name) => names.has(name))) dropDay(db, String(day));
  }
}

/** Merges the words of days without further lines: smaller, and faster to search. */
function compactDays(db: DatabaseSync, now: number): void {
  const open = utcDate(now - dayMs);
  const days = db.prepare("SELECT day FROM days WHERE compact = 0 AND day < ?").all(open);
  for (const { day } of days) {
    const words = wordsTable(String(day));
    inTransaction(db, () => {
      db.exec(`INSERT INTO ${words} (${words}) VALUES ('optimize')`);
      db.prepare("UPDATE days SET compact = 1 WHERE day = ?").run(String(day));
    });
  }
  if (days.length > 0) db.exec("PRAGMA incremental_vacuum");
}

interface Slice {
  readonly lines: PlacedLine[];
  /** The last line of each file. */
  readonly last: Map<LogCursor, RawLine>;
  bytes: number;
}

/** Takes the earliest line of all files again and again, so that numbers grow with time. */
async function nextSlice(cursors: readonly LogCursor[], sliceBytes: number): Promise<Slice> {
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
}

function earliest(cursors: readonly LogCursor[]): LogCursor | undefined {
  let first: LogCursor | undefined;
  for (const cursor of cursors) {
    if (cursor.head && (first === undefined || cursor.time < first.time)) first = cursor;
  }
  return first;
}

/** Writes lines and how far their files are read. False if another process committed lines of these files. */
function commit(db: DatabaseSync, day: string, { lines, last }: Slice): boolean {
  return inTransaction(db, () => {
    const select = db.prepare("SELECT 1 FROM files WHERE id = ? AND indexed = ?");
    const update = db.prepare("UPDATE files SET indexed = ?, tail = ? WHERE id = ?");
    const isCurrent = ({ indexed: { id, indexed } }: LogCursor): boolean =>
      select.get(id, indexed) !== undefined;
    if (![...last.keys()].every(isCurrent)) return false;
    for (const [cursor, line] of last) {
      update.run(line.end, tailOf(line), cursor.indexed.id);
      cursor.indexed = { ...cursor.indexed, indexed: line.end };
    }
    writeLines(db, day, lines);
    return true;
  });
}

function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
