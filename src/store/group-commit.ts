import type { DatabaseSync } from "node:sqlite";
import { storeError } from "./store-error.ts";

/** Makes many writes durable with one fsync. */
export interface GroupCommit {
  /**
   * Runs `fn` inside the next transaction and resolves with its result once that is committed, hence durable. What
   * `fn` throws rejects this promise only; when the commit fails (disk full, read-only), every write of the
   * transaction is rejected with UserError `store_unavailable`, and later writes are tried anew.
   */
  readonly write: <T>(fn: () => T) => Promise<T>;
  /** Commits everything that waits, now. */
  readonly flush: () => void;
}

interface Waiting {
  /** Runs the work; what it returns settles the promise after the commit. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** More than this in one transaction would keep the event loop from everything else. */
const maxWrites = 1000;

/** Groups the writes of one turn of the event loop: while one commit blocks, the next turn's writes gather. */
export function createGroupCommit(db: DatabaseSync, path: string): GroupCommit {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const savepoint = db.prepare("SAVEPOINT one_write");
  const release = db.prepare("RELEASE one_write");
  const undo = db.prepare("ROLLBACK TO one_write");
  let waiting: Waiting[] = [];
  let timer: NodeJS.Immediate | undefined;

  const commitSome = (): void => {
    const batch = waiting.slice(0, maxWrites);
    waiting = waiting.slice(maxWrites);
    try {
      begin.run();
      const settle = batch.map(runOne);
      commit.run();
      for (const done of settle) done();
    } catch (error) {
      const translated = storeError(path, error);
      for (const write of batch) write.reject(translated);
      rollBack();
    }
  };

  /** A rollback that fails is the same fault again, and the next BEGIN tells of it. */
  const rollBack = (): void => {
    try {
      if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
    } catch (error) {
      process.emitWarning(`the store could not roll back: ${String(error)}`);
    }
  };

  const runOne = (write: Waiting): (() => void) => {
    savepoint.run();
    try {
      const done = write.attempt();
      release.run();
      return done;
    } catch (error) {
      // On a full disk SQLite has rolled back the whole transaction by itself: then all of it failed.
      if (!db.isTransaction) throw error;
      undo.run();
      release.run();
      return () => write.reject(storeError(path, error));
    }
  };

  const onTurn = (): void => {
    timer = undefined;
    commitSome();
    schedule();
  };

  const schedule = (): void => {
    if (waiting.length > 0) timer ??= setImmediate(onTurn);
  };

  return {
    write: <T>(fn: () => T) =>
      new Promise<T>((resolve, reject) => {
        const attempt = (): (() => void) => {
          const value = fn();
          return () => resolve(value);
        };
        waiting.push({ attempt, reject });
        schedule();
      }),
    flush: () => {
      clearImmediate(timer);
      timer = undefined;
      while (waiting.length > 0) commitSome();
    },
  };
}
