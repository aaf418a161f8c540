import type { DatabaseSync } from "node:sqlite";

/** Tells whether a transaction was committed whose COMMIT failed. */
export interface CommitMark {
  /** Inside each transaction. */
  set(): void;
  /** Whether the transaction that set it last is committed; false also when that can't be told. */
  isCommitted(): boolean;
}

/**
 * Counts the transactions of a connection in a temporary table, which is committed and rolled back with the rest. It is
 * in memory: on disk it would need space in /tmp for every commit.
 */
export function createCommitMark(db: DatabaseSync): CommitMark {
  db.exec(
    "PRAGMA temp_store = MEMORY; CREATE TEMP TABLE commit_mark (n INTEGER); INSERT INTO commit_mark VALUES (0)",
  );
  const update = db.prepare("UPDATE temp.commit_mark SET n = ?");
  const select = db.prepare("SELECT n FROM temp.commit_mark");
  let last = 0;
  return {
    set: () => {
      update.run(++last);
    },
    isCommitted: () => {
      try {
        return db.isOpen && !db.isTransaction && select.get()?.n === last;
      } catch {
        return false;
      }
    },
  };
}
