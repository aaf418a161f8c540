import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../errors.ts";
import { isBusy, isUnavailable, storeError } from "./store-error.ts";
import { createTransaction } from "./transaction.ts";
import type { Write } from "./transaction.ts";

/** Makes many writes durable with one fsync. */
export interface GroupCommit {
  /**
   * Runs `fn` inside the next transaction and resolves with its result once that is committed, hence durable. What
   * `fn` throws rejects this promise only; when the commit fails (disk full, read-only), every write of the
   * transaction is rejected with UserError `store_unavailable`, and later writes are tried anew. With `waitMs`, a write
   * waits that long for the store first, in its place before all later writes.
   */
  readonly write: <T>(fn: () => T, waitMs?: number) => Promise<T>;
  /**
   * As `write`, for writes that no caller repeats: while the store is not available it waits, in its place
   * before all later writes. `fn` may run more than once, and then what it wrote before was rolled back.
   */
  readonly record: <T>(fn: () => T) => Promise<T>;
  /** Commits everything that waits, now or not at all. */
  readonly flush: () => void;
  /** Why the last commit failed, for a person; null if it did not. */
  readonly problem: () => string | null;
}

interface Waiting extends Write {
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
  const transact = createTransaction(db, path);
  let waiting: Waiting[] = [];
  let problem: string | null = null;
  let cancelTurn: (() => void) | undefined;

  /** False when something waits for another attempt. */
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
