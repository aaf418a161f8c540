import type { DatabaseSync } from "node:sqlite";
import { isUnavailable, storeError } from "./store-error.ts";

/** One of the writes of a transaction. */
export interface Write {
  /** Does the work; what it returns is called after the commit. */
  readonly attempt: () => () => void;
  /** Is called after the commit, when the work threw: what it wrote is undone then. */
  readonly reject: (error: unknown) => void;
}

/**
 * What commits many writes at once, each under a savepoint of its own, and returns what is to be called then. Throws
 * the fault of the disk or of another process, and then nothing was written.
 */
export function createTransaction(
  db: DatabaseSync,
  path: string,
): (writes: readonly Write[]) => readonly (() => void)[] {
  const mark = createCommitMark(db);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const savepoint = db.prepare("SAVEPOINT one_write");
  const release = db.prepare("RELEASE one_write");
  const undo = db.prepare("ROLLBACK TO one_write");

  const runOne = (write: Write): (() => void) => {
    savepoint.run();
    try {
      const done = write.attempt();
      release.run();
      return done;
    } catch (error) {
      // The disk's faults are those of the whole transaction, which SQLite may have rolled back by itself.
      if (!db.isTransaction || isUnavailable(error)) throw error;
      undo.run();
      release.run();
      return () => write.reject(storeError(path, error));
    }
  };
  return (writes) => {
    let done: readonly (() => void)[] = [];
    try {
      begin.run();
      mark.set();
      done = writes.map(runOne);
      commit.run();
    } catch (error) {
      // A commit may fail after it went through; a caller that gets an error would write it again.
      if (done.length > 0 && mark.isCommitted()) return done;
      rollBack(db);
      throw error;
    }
    return done;
  };
}

/** A rollback that fails is the same fault again, and the next BEGIN reports it. */
function rollBack(db: DatabaseSync): void {
  try {
    if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
  } catch (error) {
    process.emitWarning(`the store could not roll back: ${String(error)}`);
  }
}

/**
 * Counts the transactions of a connection in a temporary table, which is committed and rolled back with the rest. It is
 * in memory: on disk it would need space in /tmp for every commit.
 */
function createCommitMark(db: DatabaseSync) {
  db.exec(
    "PRAGMA temp_store = MEMORY; CREATE TEMP TABLE commit_mark (n INTEGER); INSERT INTO commit_mark VALUES (0)",
  );
  const update = db.prepare("UPDATE temp.commit_mark SET n = ?");
  const select = db.prepare("SELECT n FROM temp.commit_mark");
  let last = 0;
  return {
    /** Inside each transaction. */
    set: () => {
      update.run(++last);
    },
    /** Whether the transaction that set it last is committed; false also when that is unknown. */
    isCommitted: () => {
      try {
        return db.isOpen && !db.isTransaction && select.get()?.n === last;
      } catch {
        return false;
      }
    },
  };
}
