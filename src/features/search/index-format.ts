import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { searchKinds } from "../../foundation/contracts/search-kinds.ts";
import type { SearchKind } from "../../foundation/contracts/search-kinds.ts";
import type { Term } from "./terms.ts";

/** Changes with the tables and with what is a word: an index of another format is made anew. */
const format = 2;
const busyTimeoutMs = 5_000;

/** Where a project's index lies; it may be deleted while no scheduler runs. */
export function indexPath(projectDir: string): string {
  return join(projectDir, ".al", "search.db");
}

/**
 * Opens the index to write it, mode 0600. One that is broken, or of another format, is replaced by an empty one: it
 * holds nothing that log files do not. A commit that a loss of power takes is indexed again.
 */
export function openIndex(path: string, { isNew = false } = {}): DatabaseSync {
  try {
    return (isNew ? null : openAsItIs(path)) ?? createIndex(path);
  } catch (error) {
    if (!isBroken(error)) throw error;
    return createIndex(path);
  }
}

/** Whether SQLite finds that the file is no database, or none that can be read. */
export function isBroken(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: unknown };
  // SQLITE_CORRUPT and SQLITE_NOTADB; the upper bits tell what exactly.
  return typeof errcode === "number" && [11, 26].includes(errcode & 0xff);
}

function openAsItIs(path: string): DatabaseSync | null {
  if (!existsSync(path)) return null;
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    if (formatOf(db) === format) {
      db.exec(`PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216`);
      return db;
    }
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  return null;
}

function createIndex(path: string): DatabaseSync {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  // SQLite would use the umask's mode; its -wal and -shm files copy the mode that it finds.
  closeSync(openSync(path, "wx", 0o600));
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
  db.exec(`PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA journal_size_limit = 16777216;
      BEGIN;
      CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, agent TEXT NOT NULL,
        day TEXT NOT NULL, inode INTEGER NOT NULL, indexed INTEGER NOT NULL, tail TEXT NOT NULL) STRICT;
      CREATE INDEX files_by_day ON files (day, agent);
      CREATE TABLE runs (id INTEGER PRIMARY KEY, instance TEXT NOT NULL UNIQUE,
        first_day TEXT NOT NULL, last_day TEXT NOT NULL) STRICT;
      CREATE TABLE days (day TEXT PRIMARY KEY, compact INTEGER NOT NULL DEFAULT 0) STRICT;
      CREATE TABLE passes (id INTEGER PRIMARY KEY CHECK (id = 1), at INTEGER NOT NULL) STRICT;
      PRAGMA user_version = ${format};
      COMMIT`);
  return db;
}

/** Opens the index for reading; null if it is missing or unreadable. */
export function openIndexToRead(path: string): DatabaseSync | null {
  if (!existsSync(path)) return null;
  const db = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
  try {
    if (formatOf(db) === format) return db;
  } catch (error) {
    db.close();
    if (isBroken(error)) return null;
    throw error;
  }
  db.close();
  return null;
}

function formatOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version);
}

/** The table of a day's words, `YYYY-MM-DD`: what a line has is found by its number in the day. */
export function wordsTable(day: string): string {
  return `words_${digitsOf(day)}`;
}

/** The table that has the place of each line of a day by its number. */
export function placesTable(day: string): string {
  return `places_${digitsOf(day)}`;
}

function digitsOf(day: string): string {
  return day.replace(/\D/g, "");
}

/** What a line is: words of a kind that no text can have. */
export const marks = {
  file: (id: number) => `\ue000f${id}`,
  /** 0 for a line of no run. */
  run: (id: number) => `\ue000r${id}`,
  kind: (kind: SearchKind) => `\ue000k${searchKinds.indexOf(kind)}`,
};

/** The expression that finds lines with all terms and marks. Each word is quoted: none is an operator. */
export function matchExpression(terms: readonly Term[], lineMarks: readonly string[]): string {
  const texts = terms.map(({ words, isPrefix }) => `"${words.join(" ")}"${isPrefix ? " *" : ""}`);
  return [...lineMarks.map((mark) => `"${mark}"`), ...texts].join(" AND ");
}
