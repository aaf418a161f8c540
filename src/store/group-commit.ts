import type { DatabaseSync } from "node:sqlite";
import { createCommitMark } from "./commit-mark.ts";
import { isBusy, isUnavailable, storeError } from "./store-error.ts";

/** Makes many writes durable with one fsync. */
export interface GroupCommit {
  /**
   * Runs `fn` inside the next transaction and resolves with its result once that is committed, hence durable. What
   * `fn` throws rejects this promise only; when the commit fails (disk full, read-only), every write of the
   * transaction is rejected with UserError `store_unavailable`, and later writes are tried anew.
   */
  readonly write: <T>(fn: () => T) => Promise<T>;
  /**
   * As `write`, for what nobody is there to ask for again: while the store is not available it waits, in its place
   * before all later writes. `fn` may run more than once, and then what it wrote before was rolled back.
   */
  readonly record: <T>(fn: () => T) => Promise<T>;
  /** Commits everything that waits, now or not at all. */
  readonly flush: () => void;
}

interface Waiting {
  /** Runs the work; what it returns settles the promise after the commit. */
  readonly attempt: () => () => void;
  readonly reject: (error: unknown) => void;
  /** Whether it is tried again after its transaction failed with this. */
  readonly mayWait: (error: unknown) => boolean;
}

/** More than this in one transaction would keep the event loop from everything else. */
const maxWrites = 1000;
/** Between a transaction that failed and the next, when something waits for it, in ms. */
const retryMs = 50;
/** How long a write waits for another process's, in ms. */
const busyMs = 5000;
/** How long of it the event loop stands still at a time, in ms. */
const blockedMs = 10;

/** Groups the writes of one turn of the event loop: while one commit blocks, the next turn's writes gather. */
export function createGroupCommit(db: DatabaseSync, path: string): GroupCommit {
  db.exec(`PRAGMA busy_timeout = ${blockedMs}`);
  const mark = createCommitMark(db);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const savepoint = db.prepare("SAVEPOINT one_write");
  const release = db.prepare("RELEASE one_write");
  const undo = db.prepare("ROLLBACK TO one_write");
  let waiting: Waiting[] = [];
  let cancelTurn: (() => void) | undefined;

  /** False when something waits for another attempt. */
  const commitSome = (isLast: boolean): boolean => {
    const batch = waiting.slice(0, maxWrites);
    waiting = waiting.slice(maxWrites);
    let settle: readonly (() => void)[] = [];
    try {
      begin.run();
      mark.set();
      settle = batch.map(runOne);
      commit.run();
    } catch (error) {
      // A commit may fail after it went through; who is told otherwise does it again.
      if (settle.length === 0 || !mark.isCommitted()) return failed(batch, error, isLast);
    }
    for (const done of settle) done();
    return true;
  };

  const failed = (batch: readonly Waiting[], error: unknown, isLast: boolean): boolean => {
    rollBack();
    const translated = storeError(path, error);
    const again: Waiting[] = [];
    for (const write of batch) {
      if (!isLast && write.mayWait(error)) again.push(write);
      else write.reject(translated);
    }
    waiting = [...again, ...waiting];
    return again.length === 0;
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
      // The disk's faults are those of the whole transaction, which SQLite may have rolled back by itself.
      if (!db.isTransaction || isUnavailable(error)) throw error;
      undo.run();
      release.run();
      return () => write.reject(storeError(path, error));
    }
  };

  const onTurn = (): void => {
    cancelTurn = undefined;
    schedule(commitSome(false));
  };

  const schedule = (atOnce: boolean): void => {
    if (waiting.length === 0 || cancelTurn !== undefined) return;
    if (atOnce) {
      const turn = setImmediate(onTurn);
      cancelTurn = () => clearImmediate(turn);
    } else {
      const turn = setTimeout(onTurn, retryMs);
      cancelTurn = () => clearTimeout(turn);
    }
  };

  const add = <T>(fn: () => T, mayWait: Waiting["mayWait"]): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const attempt = (): (() => void) => {
        const value = fn();
        return () => resolve(value);
      };
      waiting.push({ attempt, reject, mayWait });
      schedule(true);
    });

  return {
    write: (fn) => {
      const since = performance.now();
      return add(fn, (error) => isBusy(error) && performance.now() - since < busyMs);
    },
    record: (fn) => add(fn, isUnavailable),
    flush: () => {
      if (db.isOpen) db.exec(`PRAGMA busy_timeout = ${busyMs}`);
      cancelTurn?.();
      cancelTurn = undefined;
      while (waiting.length > 0) commitSome(true);
    },
  };
}
