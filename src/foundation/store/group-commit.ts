import type { DatabaseSync } from "node:sqlite";
import { isUnavailable, storeError, isBusy } from "./store-error.ts";
import { messageOf } from "../errors.ts";

/** Makes many writes durable with one fsync. */
export interface GroupCommit {
  /**
   * Runs `fn` inside the next transaction and resolves with its result once that is durable. `fn` may run more than once,
   * after its earlier writes were rolled back. Its error rejects this promise only; if the commit fails (disk full,
   * read-only), so does every write of the transaction, with Problem `store_unavailable`. With `waitMs`, a write first
   * waits that long for the store, in its place before all later writes.
   */
  readonly write: <T>(fn: () => T, waitMs?: number) => Promise<T>;
  /**
   * As `write`, for writes that no caller repeats: while the store is not available it waits, in its place
   * before all later writes.
   */
  readonly record: <T>(fn: () => T) => Promise<T>;
  /** Commits all waiting writes, now or not at all. */
  readonly flush: () => void;
  /** Why the last commit failed, for a person; null if it did not. */
  readonly problem: () => string | null;
}

interface Waiting extends Write {
  /** Whether the write is retried after its transaction failed with this error. */
  readonly mayWait: (error: unknown) => boolean;
}

/** More writes in one transaction would block the event loop. */
const maxWrites = 1000;
/** How long between a failed transaction and the next one while writes wait, in ms. */
const retryMs = 50;
/** How long a write waits for another process's, in ms. */
const busyMs = 5000;
/** How long the event loop blocks at a time during that wait, in ms. */
const blockedMs = 10;

/** Groups the writes of one turn of the event loop: while one commit blocks, the next turn's writes gather. */
export function createGroupCommit(db: DatabaseSync, path: string): GroupCommit {
  db.exec(`PRAGMA busy_timeout = ${blockedMs}`);
  const transact = createTransaction(db, path);
  let waiting: Waiting[] = [];
  let problem: string | null = null;
  let cancelTurn: (() => void) | undefined;

  /** False if a write waits for another attempt. */
  const commitSome = (isLast: boolean): boolean => {
    const batch = waiting.slice(0, maxWrites);
    waiting = waiting.slice(maxWrites);
    let settle: readonly (() => void)[];
    try {
      settle = transact(batch);
    } catch (error) {
      return failed(batch, error, isLast);
    }
    problem = null;
    for (const done of settle) done();
    return true;
  };

  const failed = (batch: readonly Waiting[], error: unknown, isLast: boolean): boolean => {
    const translated = storeError(path, error);
    problem = messageOf(error);
    const again: Waiting[] = [];
    for (const write of batch) {
      if (!isLast && write.mayWait(error)) again.push(write);
      else write.reject(translated);
    }
    waiting = [...again, ...waiting];
    return again.length === 0;
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
    write: (fn, waitMs = 0) => {
      const since = performance.now();
      return add(fn, (error) => {
        const longestMs = isBusy(error) ? Math.max(busyMs, waitMs) : waitMs;
        return isUnavailable(error) && performance.now() - since < longestMs;
      });
    },
    record: (fn) => add(fn, isUnavailable),
    problem: () => problem,
    flush: () => {
      if (db.isOpen) db.exec(`PRAGMA busy_timeout = ${busyMs}`);
      cancelTurn?.();
      cancelTurn = undefined;
      while (waiting.length > 0) commitSome(true);
    },
  };
}

/** One of the writes of a transaction. */
export interface Write {
  /** Does the work, perhaps more than once; the returned function is called after the commit. */
  readonly attempt: () => () => void;
  /** Called after the commit, if the work threw and its writes were undone. */
  readonly reject: (error: unknown) => void;
}

/**
 * Commits many writes at once and returns the functions to call then. Throws the fault of the disk or of another process,
 * and then nothing was written.
 */
function createTransaction(
  db: DatabaseSync,
  path: string,
): (writes: readonly Write[]) => readonly (() => void)[] {
  const mark = createCommitMark(db);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const savepoint = db.prepare("SAVEPOINT one_write");
  const release = db.prepare("RELEASE one_write");
  const undo = db.prepare("ROLLBACK TO one_write");

  /** A write that throws is undone alone. */
  const attemptApart = (write: Write): (() => void) => {
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
  const transact = (writes: readonly Write[], attempt: typeof attemptApart) => {
    let done: readonly (() => void)[] = [];
    try {
      begin.run();
      mark.set();
      done = writes.map(attempt);
      commit.run();
    } catch (error) {
      // A commit may fail after it was written; a caller that gets an error would write it again.
      if (done.length > 0 && mark.isCommitted()) return done;
      rollBack(db);
      throw error;
    }
    return done;
  };
  return (writes) => {
    try {
      return transact(writes, ({ attempt }) => attempt());
    } catch (error) {
      if (isUnavailable(error)) throw error;
      // Savepoints copy each page that a write changes, so only a write that throws brings them.
      return transact(writes, attemptApart);
    }
  };
}

/** A failed rollback is the same error again, and the next BEGIN reports it. */
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
    /** Called inside each transaction. */
    set: () => {
      update.run(++last);
    },
    /** Whether the last transaction that set it is committed; false also if that is unknown. */
    isCommitted: () => {
      try {
        return db.isOpen && !db.isTransaction && select.get()?.n === last;
      } catch {
        return false;
      }
    },
  };
}

const commitMs = 1_000;

/**
 * Calls `commit` at most once a second. While the store is not available, one commit waits, and later counts are added up
 * behind it.
 */
export function createEachSecond(commit: () => Promise<void>) {
  let timer: NodeJS.Timeout | null = null;
  let committing: Promise<void> | null = null;

  const commitNow = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    return commit();
  };
  const flush = async (): Promise<void> => {
    await committing;
    committing ??= commitNow().finally(() => (committing = null));
    return committing;
  };
  return {
    /** Commits within a second or so. */
    schedule: (): void => {
      timer ??= setTimeout(() => void flush().catch(() => undefined), commitMs).unref();
    },
    /** Resolves when all added counts are committed. */
    flush,
    /** Passes pending counts to the last commit. */
    close: (): void => void commitNow().catch(() => undefined),
  };
}
