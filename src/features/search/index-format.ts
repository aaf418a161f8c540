import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { searchKinds, type SearchKind } from "./search-kinds.ts";
import { indexText, type Term } from "./terms.ts";
import type { LogFile } from "../../foundation/logs/log-files.ts";
import type { IndexedFile, LineContent } from "./log-cursor.ts";

/** Raised with the tables and with the definition of a word: an index of another format is replaced. */
const format = 2;
const busyTimeoutMs = 5_000;

/** The path of a project's index; the file may be deleted while no scheduler runs. */
export function indexPath(projectDir: string): string {
  return join(projectDir, ".al", "search.db");
}

/** Opens the index for reading and writing; null if it is missing or has another format. Throws if it is corrupt. */
export function openExisting(path: string, { readOnly = false } = {}): DatabaseSync | null {
  if (!existsSync(path)) return null;
  const db = new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs });
  try {
    if (Number(db.prepare("PRAGMA user_version").get()?.user_version) === format) {
      // After a loss of power the last lines are indexed again.
      db.exec("PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 16777216");
      return db;
    }
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  return null;
}

/** Opens the index for writing, mode 0600. If it is corrupt or has another format, an empty one replaces it. */
export function openIndex(path: string): DatabaseSync {
  try {
    return openExisting(path) ?? createIndex(path);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return createIndex(path);
  }
}

/** Whether an error says that the file is corrupt, or not a SQLite database. */
export function isCorrupt(error: unknown): boolean {
  const { errcode } = error as { readonly errcode?: unknown };
  // SQLITE_CORRUPT and SQLITE_NOTADB; the upper bits hold details.
  return typeof errcode === "number" && [11, 26].includes(errcode & 0xff);
}

/** Creates an empty index in place of any other. */
export function createIndex(path: string): DatabaseSync {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
  // SQLite would apply the umask; its -wal and -shm files copy the mode of this one.
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

/** The table of a day's words, `YYYY-MM-DD`, by the number of the line in the day. */
export function wordsTable(day: string): string {
  return `words_${digitsOf(day)}`;
}

/** The table with the place of each line of a day, by its number. */
export function placesTable(day: string): string {
  return `places_${digitsOf(day)}`;
}

function digitsOf(day: string): string {
  return day.replace(/\D/g, "");
}

/** Words that no text can contain: the file, run and kind of a line. */
export const marks = {
  file: (id: number) => `\ue000f${id}`,
  /** 0 for a line outside of runs. */
  run: (id: number) => `\ue000r${id}`,
  kind: (kind: SearchKind) => `\ue000k${searchKinds.indexOf(kind)}`,
};

/** The FTS5 expression that finds lines with all terms and marks. Words are quoted, so they are never operators. */
export function matchExpression(terms: readonly Term[], lineMarks: readonly string[]): string {
  const texts = terms.map(({ words, isPrefix }) => `"${words.join(" ")}"${isPrefix ? " *" : ""}`);
  return [...lineMarks.map((mark) => `"${mark}"`), ...texts].join(" AND ");
}

/** A line with its place. */
export interface PlacedLine {
  readonly fileId: number;
  readonly start: number;
  readonly content: LineContent;
}

/** Writes lines of one UTC day; within the caller's transaction. */
export function writeLines(db: DatabaseSync, day: string, lines: readonly PlacedLine[]): void {
  const [words, places] = [wordsTable(day), placesTable(day)];
  db.prepare("INSERT OR IGNORE INTO days (day) VALUES (?)").run(day);
  db.exec(`CREATE VIRTUAL TABLE IF NOT EXISTS ${words} USING fts5(text, content='', columnsize=0, tokenize='ascii');
    CREATE TABLE IF NOT EXISTS ${places} (id INTEGER PRIMARY KEY, file INTEGER NOT NULL,
      start INTEGER NOT NULL, run INTEGER NOT NULL) STRICT`);
  const insertWords = db.prepare(`INSERT INTO ${words} (rowid, text) VALUES (?, ?)`);
  const insertPlace = db.prepare(
    `INSERT INTO ${places} (id, file, start, run) VALUES (?, ?, ?, ?)`,
  );
  const runs = runNumbers(db, day);
  let last = Number(db.prepare(`SELECT max(id) AS last FROM ${places}`).get()?.last ?? 0);
  for (const { fileId, start, content } of lines) {
    const { text, kind, isError, instanceId } = content;
    const run = instanceId === null ? 0 : runs(instanceId);
    const lineMarks = [marks.file(fileId), marks.run(run), marks.kind(kind)];
    if (isError) lineMarks.push(marks.kind("error"));
    last += 1;
    // Marks first: low positions take one byte.
    insertWords.run(last, `${lineMarks.join(" ")} ${indexText(text)}`);
    insertPlace.run(last, fileId, start, run);
  }
}

/** Numbers each run, and stores the first and last day with lines of it. */
function runNumbers(db: DatabaseSync, day: string): (instanceId: string) => number {
  const upsert = db.prepare(
    `INSERT INTO runs (instance, first_day, last_day) VALUES (?1, ?2, ?2) ON CONFLICT (instance)
     DO UPDATE SET first_day = min(first_day, ?2), last_day = max(last_day, ?2) RETURNING id`,
  );
  const known = new Map<string, number>();
  return (instanceId) => {
    const number = known.get(instanceId) ?? Number(upsert.get(instanceId, day)?.id);
    known.set(instanceId, number);
    return number;
  };
}

/** The indexed log files of a day, by name. */
export function filesOfDay(db: DatabaseSync, day: string): Map<string, IndexedFile> {
  const rows = db.prepare("SELECT id, name, inode, indexed, tail FROM files WHERE day = ?");
  const files = rows.all(day).map((row) => ({
    id: Number(row.id),
    name: String(row.name),
    inode: Number(row.inode),
    indexed: Number(row.indexed),
    tail: String(row.tail),
  }));
  return new Map(files.map((file) => [file.name, file]));
}

/** Adds a log file without any indexed line. Another process may have added it. */
export function addFile(db: DatabaseSync, { name, agent, date }: LogFile, inode: number): void {
  db.prepare(
    "INSERT OR IGNORE INTO files (name, agent, day, inode, indexed, tail) VALUES (?, ?, ?, ?, 0, '')",
  ).run(name, agent, date, inode);
}

/** Deletes a day from the index and shrinks the file. The deleted words are overwritten. */
export function dropDay(db: DatabaseSync, day: string): void {
  db.exec(`PRAGMA secure_delete = ON;
    BEGIN IMMEDIATE;
    DROP TABLE IF EXISTS ${wordsTable(day)};
    DROP TABLE IF EXISTS ${placesTable(day)}`);
  db.prepare("DELETE FROM files WHERE day = ?").run(day);
  db.prepare("DELETE FROM days WHERE day = ?").run(day);
  db.exec(`DELETE FROM runs WHERE last_day < coalesce((SELECT min(day) FROM days), '9');
    COMMIT;
    PRAGMA incremental_vacuum;
    PRAGMA secure_delete = OFF`);
}
