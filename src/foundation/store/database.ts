import { existsSync, renameSync, rmSync, linkSync, statSync } from "node:fs";
import { basename } from "node:path";
import { messageOf, Problem, failureOf } from "../errors.ts";
import { createPrivately, inodeOf } from "./state-dir.ts";
import { DatabaseSync } from "node:sqlite";
import { corruptHint, storeError } from "./store-error.ts";

/** How long to wait for another process's write before failing, in ms. */
const busyTimeoutMs = 5000;

/** The format of a database: SQL that creates `firstVersion` in an empty file, and then a step to each later version. */
interface DatabaseFormat {
  /** The `user_version` of the oldest files that can be opened. */
  readonly firstVersion: number;
  readonly steps: readonly string[];
}

/**
 * Opens a SQLite file of mode 0600 with durable commits (WAL, `synchronous=FULL`) and brings it up to date. Throws
 * Problem `store_unavailable`, `store_corrupt`, `store_older` or `store_newer`; a file that is not a database is never
 * replaced by a new one.
 */
export function openDatabase(path: string, format: DatabaseFormat): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (!existsSync(path)) createDatabase(path);
    // SQLite takes an empty file for a database that is still to be created.
    if (statSync(path).size === 0) throw emptied(path);
    db = new DatabaseSync(path, { timeout: busyTimeoutMs });
    db.exec(`PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA cache_size = -4000`);
    migrate(db, path, format);
    return db;
  } catch (error) {
    db?.close();
    throw unopened(path, error);
  }
}

/**
 * Creates an empty database in one atomic step, so that no process ever sees another's unfinished file. If several
 * processes create it at once, the first one's stays.
 */
function createDatabase(path: string): void {
  const draft = `${path}.${process.pid}.new`;
  rmSync(draft, { force: true });
  try {
    // SQLite would use the umask's mode; its -wal and -shm files copy the mode that it finds.
    createPrivately(draft);
    const db = new DatabaseSync(draft);
    // auto_vacuum counts only before the first table; pruning can then give space back without a full VACUUM. The
    // journal's mode is written into the file's header.
    db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
    db.close();
    if (!existsSync(path)) linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The error of an existing file without a byte. */
export function emptied(path: string): Problem {
  return new Problem(
    "store_corrupt",
    `${path}: the file is empty, and its content is gone`,
    corruptHint,
  );
}

function unopened(path: string, error: unknown): unknown {
  const translated = storeError(path, error);
  if (translated !== error || error instanceof Problem) return translated;
  return failureOf(
    "store_unavailable",
    path,
    error,
    "make the file and its directory readable and writable",
  );
}

/** Whether the file has the latest format. Throws Problem `store_newer`, or `store_older` if no step begins at its version. */
export function isCurrent(db: DatabaseSync, path: string, format: DatabaseFormat): boolean {
  const version = versionOf(db);
  const latest = latestOf(format);
  if (version > latest) throw newer(path, version);
  if (version !== 0 && version < format.firstVersion) throw older(path, version);
  return version === latest;
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version);
}

function latestOf({ firstVersion, steps }: DatabaseFormat): number {
  return firstVersion + steps.length - 1;
}

function migrate(db: DatabaseSync, path: string, format: DatabaseFormat): void {
  if (isCurrent(db, path, format)) return;
  if (versionOf(db) !== 0) saveBefore(db, path);
  db.exec("BEGIN IMMEDIATE");
  try {
    // The version is read again: another process may have migrated while this one waited for the lock.
    if (!isCurrent(db, path, format)) {
      const version = versionOf(db);
      const done = version === 0 ? 0 : version - format.firstVersion + 1;
      for (const sql of format.steps.slice(done)) db.exec(sql);
      db.exec(`PRAGMA user_version = ${latestOf(format)}`);
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** The copy of a database from before its last update to a new format. */
const beforeUpdate = (path: string): string => `${path}.before-update`;

/** Throws on a full disk, and the update fails with it. */
function saveBefore(db: DatabaseSync, path: string): void {
  const draft = `${beforeUpdate(path)}.${process.pid}.new`;
  rmSync(draft, { force: true });
  try {
    createPrivately(draft);
    db.prepare("VACUUM INTO ?").run(draft);
    renameSync(draft, beforeUpdate(path));
  } finally {
    rmSync(draft, { force: true });
  }
}

function older(path: string, version: number): Problem {
  return new Problem(
    "store_older",
    `${path}: written before version 0.1.0 of this program (format ${version})`,
    "start over: with no scheduler running (al stop), move the file away",
  );
}

function newer(path: string, version: number): Problem {
  return new Problem(
    "store_newer",
    `${path}: written by a newer version of this program (format ${version})`,
    `install that version again, or start over: with no scheduler running (al stop), move the file away; ${basename(beforeUpdate(path))} has the data of before the update`,
  );
}

/** The log and its index, without which the database itself is incomplete. */
const besides = ["-wal", "-shm"];

export function createDatabaseFiles(db: DatabaseSync, path: string) {
  const inodes = () => ["", ...besides].map((part) => inodeOf(path + part));
  const opened = inodes();
  let saved: bigint | null = null;
  const target = (): string => {
    const isOwn = [null, opened[0], saved].includes(inodeOf(path));
    return isOwn ? path : `${path}.saved`;
  };
  return {
    /** Whether another process that opens the database gets the same files. */
    areInPlace: (): boolean =>
      inodes().every((inode, n) => [null, inode].includes(opened[n] ?? null)),
    /**
     * Writes the whole database to its path again, or beside it if another file took its place, and returns the file.
     * Repeated calls write the same file. Throws if it can't be written.
     */
    save: (): string => {
      const file = target();
      const draft = `${file}.${process.pid}.new`;
      rmSync(draft, { force: true });
      createPrivately(draft);
      db.prepare("VACUUM INTO ?").run(draft);
      // These files belong to a database file that was removed.
      for (const part of besides) rmSync(file + part, { force: true });
      renameSync(draft, file);
      saved = inodeOf(file);
      return file;
    },
  };
}

/** Opens a database that must not block a start: a damaged one is moved aside, and a new one created. */
export function orAside<T>(
  path: string,
  open: () => T,
  isWorthless: (error: unknown) => boolean,
  onProblem: (message: string) => void,
): T {
  try {
    return open();
  } catch (error) {
    if (!isWorthless(error)) throw error;
    const aside = `${path}.damaged-${new Date().toISOString().replaceAll(":", "")}`;
    for (const part of ["", ...besides])
      if (existsSync(path + part)) renameSync(path + part, aside + part);
    onProblem(`${messageOf(error)}: it was moved to ${aside}, and a new one is made`);
    return open();
  }
}
