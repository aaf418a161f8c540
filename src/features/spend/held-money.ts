import type { AccountKey } from "../../foundation/contracts/budget.ts";

/** An attempt to get money: its result, or the account whose open calls hold what it needs. */
export type Attempt<T> = () => { readonly result: T } | { readonly heldBy: AccountKey };

/** Calls that wait for what open calls hold of an account. */
export interface HeldMoney<T> {
  /** Attempts now, and again whenever money came back. After the longest time to wait, `last` decides. */
  get(attempt: Attempt<T>, last: () => T, signal: AbortSignal): Promise<T>;
  /** Money came back to these accounts, or their limits changed. */
  freed(accounts: readonly AccountKey[]): void;
}

interface Waiter<T> {
  readonly attempt: Attempt<T>;
  /** Settles the promise with what this returns or throws. */
  readonly finish: (result: () => T) => void;
  /** The account that it waits for. */
  account: string;
}

/**
 * None waits at first. The first that came to an account is the first that is tried; one that still lacks money holds up
 * those behind it.
 */
export function createHeldMoney<T>(longestMs: number): HeldMoney<T> {
  const queues = new Map<string, Set<Waiter<T>>>();

  const join = (waiter: Waiter<T>): void => {
    const queue = queues.get(waiter.account) ?? new Set();
    queues.set(waiter.account, queue.add(waiter));
  };
  const leave = (waiter: Waiter<T>): void => {
    const queue = queues.get(waiter.account);
    queue?.delete(waiter);
    if (queue?.size === 0) queues.delete(waiter.account);
  };
  /** False when the account is still short, hence for those behind it, too. */
  const retry = (waiter: Waiter<T>): boolean => {
    const heldBy = attempted(waiter);
    if (heldBy === waiter.account) return false;
    if (heldBy === null) return true;
    leave(waiter);
    waiter.account = heldBy;
    join(waiter);
    return true;
  };
  const wait = (
    attempt: Attempt<T>,
    account: string,
    last: () => T,
    signal: AbortSignal,
  ): Promise<T> =>
    new Promise((resolve, reject) => {
      const finish = (result: () => T): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        leave(waiter);
        try {
          resolve(result());
        } catch (error) {
          // The store may fail to read; the call that gave money back is not to fail with it.
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const abort = (): void => finish(() => abortedBy(signal));
      const timer = setTimeout(() => finish(last), longestMs);
      signal.addEventListener("abort", abort, { once: true });
      const waiter: Waiter<T> = { attempt, finish, account };
      join(waiter);
    });
  return {
    get: async (attempt, last, signal) => {
      signal.throwIfAborted();
      const first = attempt();
      return "result" in first ? first.result : wait(attempt, nameOf(first.heldBy), last, signal);
    },
    freed: (accounts) => {
      for (const key of accounts) {
        for (const waiter of queues.get(nameOf(key)) ?? []) if (!retry(waiter)) break;
      }
    },
  };
}

/** The account that holds what the waiter needs; null when it is finished. */
function attempted<T>({ attempt, finish }: Waiter<T>): string | null {
  try {
    const outcome = attempt();
    if ("heldBy" in outcome) return nameOf(outcome.heldBy);
    finish(() => outcome.result);
  } catch (error) {
    finish(() => {
      throw error;
    });
  }
  return null;
}

function abortedBy(signal: AbortSignal): never {
  signal.throwIfAborted();
  throw new Error("the signal is not aborted");
}

function nameOf({ scope, window }: AccountKey): string {
  return `${window} ${scope}`;
}
