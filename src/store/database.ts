import { DatabaseSync } from "node:sqlite";
import { messageOf, UserError } from "../errors.ts";
import { createPrivately } from "./private-file.ts";
import { storeError } from "./store-error.ts";

/** Waits this long, in ms, for another process's write before it gives up. */
const busyTimeoutMs = 5000;

/**
 * Opens a SQLite file of mode 0600 with durable commits (WAL, `synchronous=FULL`) and brings it up to date:
 * `migrations[i]` takes it from `user_version` i to i + 1. Throws UserError `store_unavailable`, `store_corrupt` or
 * `store_newer`; a file that is no database is never replaced by a new one.
 */
export function openDatabase(path: string, migrations: readonly string[]): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    // SQLite would use the umask's mode; its -wal and -shm files copy the mode that it finds.
    createPrivately(path);
    db = new DatabaseSync(path, { timeout: busyTimeoutMs });
    // auto_vacuum counts only before the first table; pruning can then give space back without a full VACUUM.
    db.exec(`PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA cache_size = -16000`);
    migrate(db, path, migrations);
    return db;
  } catch (error) {
    db?.close();
    throw unopened(path, error);
  }
}

function unopened(path: string, error: unknown): unknown {
  const translated = storeError(path, error);
  if (translated !== error || error instanceof UserError) return translated;
  return new UserError("store_unavailable", `${path}: ${messageOf(error)}`, {
    hint: "make the file and its directory readable and writable",
    cause: error,
  });
}

function versionOf(db: DatabaseSync): number {
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

function newer(path: string, version: number): UserError {
  return new UserError(
    "store_newer",
    `${path}: written by a newer version of this program (format ${version})`,
    { hint: "install that version again, or move the file away to begin anew" },
  );
}
