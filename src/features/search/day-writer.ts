import type { DatabaseSync } from "node:sqlite";
import type { LogFile } from "../../foundation/logs/log-files.ts";
import { marks, placesTable, wordsTable } from "./index-format.ts";
import type { LineContent } from "./line-content.ts";
import { indexText } from "./tokens.ts";

/** How far a log file is indexed. */
export interface IndexedFile {
  readonly id: number;
  readonly name: string;
  readonly inode: number;
  /** Bytes. */
  readonly indexed: number;
  /** The end of what is indexed, which tells the file from another of its name. */
  readonly tail: string;
}

/** A line with its place. */
export interface PlacedLine {
  readonly fileId: number;
  readonly start: number;
  readonly content: LineContent;
}

/** Writes the lines of one UTC day; within the caller's transaction. */
export function createDayWriter(db: DatabaseSync, day: string) {
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
  return {
    add: ({ fileId, start, content }: PlacedLine): void => {
      const { text, kind, isError, instanceId } = content;
      const run = instanceId === null ? 0 : runs(instanceId);
      const lineMarks = [marks.file(fileId), marks.run(run), marks.kind(kind)];
      if (isError) lineMarks.push(marks.kind("error"));
      last += 1;
      // Marks first: low positions take one byte.
      insertWords.run(last, `${lineMarks.join(" ")} ${indexText(text)}`);
      insertPlace.run(last, fileId, start, run);
    },
  };
}

/** The number of each run, and the days that it has lines of. */
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

/** The log files of a day that are indexed, by name. */
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

/** Adds a log file of which nothing is indexed yet. */
export function addFile(
  db: DatabaseSync,
  { name, agent, date }: LogFile,
  inode: number,
): IndexedFile {
  const { lastInsertRowid } = db
    .prepare(
      "INSERT INTO files (name, agent, day, inode, indexed, tail) VALUES (?, ?, ?, ?, 0, '')",
    )
    .run(name, agent, date, inode);
  return { id: Number(lastInsertRowid), name, inode, indexed: 0, tail: "" };
}

/** Deletes all that the index has of a day, and gives its room back. Its words are overwritten. */
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
