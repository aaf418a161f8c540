import type { Limit, AccountKey, StoredAccount } from "../../../foundation/contracts/budget.ts";
import type { NanoUsd } from "../../../foundation/contracts/money.ts";

/** What one scope spends in one window. */
export interface Account extends AccountKey {
  spent: NanoUsd;
  reserved: NanoUsd;
  raised: NanoUsd;
  warned: number;
  turns: number;
  tokens: number;
  /** Calls whose cost is reserved. */
  open: number;
  /** The least limit that would have paid the call that was refused last; null when one was paid since. */
  neededCap: NanoUsd | null;
  /** Epoch ms. */
  usedAt: number;
}

/** The accounts in memory. */
export interface Accounts {
  /** Reads it from the store when it is not in memory. */
  of(key: AccountKey, now: number): Account;
  forget(key: AccountKey): void;
  size(): number;
}

/** Reads an account; null when nothing was spent yet. */
export type ReadAccount = (scope: string, window: string) => StoredAccount | null;

/** An account without open calls leaves the memory after this time, in ms: by then all of it is stored. */
const idleMs = 3_600_000;

const unused: StoredAccount = { spent: 0, raised: 0, warned: 0, turns: 0, tokens: 0 };

/** No accounts at first. A clock that was set back finds the windows that it left as they are stored. */
export function createAccounts(read: ReadAccount): Accounts {
  const accounts = new Map<string, Account>();
  let sweptAt = -Infinity;

  const sweep = (now: number): void => {
    if (Math.abs(now - sweptAt) < idleMs) return;
    sweptAt = now;
    for (const [name, { open, usedAt }] of accounts) {
      if (open === 0 && Math.abs(now - usedAt) >= idleMs) accounts.delete(name);
    }
  };
  const opened = (key: AccountKey, now: number): Account => {
    const stored = read(key.scope, key.window) ?? unused;
    const { scope, window, endsAt } = key;
    const none = { reserved: 0, open: 0, neededCap: null, usedAt: now };
    return { scope, window, endsAt, ...stored, ...none };
  };
  return {
    of: (key, now) => {
      sweep(now);
      const name = nameOf(key);
      const account = accounts.get(name) ?? opened(key, now);
      account.usedAt = now;
      accounts.set(name, account);
      return account;
    },
    forget: (key) => void accounts.delete(nameOf(key)),
    size: () => accounts.size,
  };
}

/** An account and what limits it. */
export interface LimitedAccount {
  readonly account: Account;
  readonly limit: Limit;
}

/** The limit with what it was raised by; null for none. */
export function capOf({ account, limit }: LimitedAccount): NanoUsd | null {
  return limit.nano === null ? null : limit.nano + account.raised;
}

/** No scope or window has a space in it. */
function nameOf({ scope, window }: AccountKey): string {
  return `${window} ${scope}`;
}
