import { existsSync, linkSync, rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { messageOf, UserError } from "../errors.ts";
import { createPrivately } from "./private-file.ts";
import { corruptHint, storeError } from "./store-error.ts";

/** Waits this long, in ms, for another process's write before it fails. */
const busyTimeoutMs = 5000;

/**
 * Opens a SQLite file of mode 0600 with durable commits (WAL, `synchronous=FULL`) and brings it up to date:
 * `migrations[i]` takes it from `user_version` i to i + 1. Throws UserError `store_unavailable`, `store_corrupt` or
 * `store_newer`; a file that is no database, or is one no more, is never replaced by a new one.
 */
export function openDatabase(path: string, migrations: readonly string[]): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (!existsSync(path)) createDatabase(path);
    // SQLite takes an empty file for a database that is still to be made.
    if (statSync(path).size === 0) throw emptied(path);
    db = new DatabaseSync(path, { timeout: busyTimeoutMs });
    db.exec(`PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA cache_size = -16000`);
    migrate(db, path, migrations);
    return db;
  } catch (error) {
    db?.close();
    throw unopened(path, error);
  }
}

/**
 * Puts an empty database in place in one step, so that an empty file is never one that another process began. Of several
 * callers at once, the first one's stays.
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

/** The error of a file that is there and holds no byte. */
export function emptied(path: string): UserError {
  return new UserError("store_corrupt", `${path}: the file is empty, and what was in it is gone`, {
    hint: corruptHint,
  });
}

function unopened(path: string, error: unknown): unknown {
  const translated = storeError(path, error);
  if (translated !== error || error instanceof UserError) return translated;
  return new UserError("store_unavailable", `${path}: ${messageOf(error)}`, {
    hint: "make the file and its directory readable and writable",
    cause: error,
  });
}

/** How many migrations brought it to its format. */
export function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.user_version);
}

function migrate(db: DatabaseSync, path: string, migrations: readonly string[]): void {
  if (versionOf(db) === migrations.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Read again: another process may have migrated while this one waited for the lock.
    const version = versionOf(db);
    if (version > migrations.length) throw newer(path, version);
    for (const sql of migrations.slice(version)) db.exec(sql);
    db.exec(`PRAGMA user_version = ${migrations.length}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** The error of a file whose format is not known yet. */
export function newer(path: string, version: number): UserError {
  return new UserError(
    "store_newer",
    `${path}: written by a newer version of this program (format ${version})`,
    {
      hint: "install that version again, or begin anew: with no scheduler running (al stop), move the file away",
    },
  );
}
