import type { Limit, AccountKey, StoredAccount } from "../../../foundation/contracts/budget.ts";
import type { NanoUsd } from "../../../foundation/contracts/money.ts";
import { momentsOf, shownAt } from "../../../../streams/wall-time.ts";

/** The spending of one scope in one window. */
export interface Account extends AccountKey {
  spent: NanoUsd;
  reserved: NanoUsd;
  raised: NanoUsd;
  warned: number;
  turns: number;
  tokens: number;
  /** Calls whose cost is reserved. */
  open: number;
  /** Limit that the last rejected call needed; null once a later call was paid. */
  neededCap: NanoUsd | null;
  /** Epoch ms. */
  usedAt: number;
}

/** Reads an account; null when nothing was spent yet. */
export type ReadAccount = (scope: string, window: string) => StoredAccount | null;

/** An account without open calls leaves the memory after this time, in ms: by then all of it is stored. */
const idleMs = 3_600_000;

const unused: StoredAccount = { spent: 0, raised: 0, warned: 0, turns: 0, tokens: 0 };

/** Accounts in memory. After the clock is set back, earlier windows are read from the store. */
export function createAccounts(read: ReadAccount) {
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
    /** An account, read from the store if it is not in memory. */
    of: (key: AccountKey, now: number): Account => {
      sweep(now);
      const name = nameOf(key);
      const account = accounts.get(name) ?? opened(key, now);
      account.usedAt = now;
      accounts.set(name, account);
      return account;
    },
    forget: (key: AccountKey) => void accounts.delete(nameOf(key)),
    size: (): number => accounts.size,
  };
}

/** An account and its limit. */
export interface LimitedAccount {
  readonly account: Account;
  readonly limit: Limit;
}

/** The limit with all raises; null without a limit. */
export function capOf({ account, limit }: LimitedAccount): NanoUsd | null {
  return limit.nano === null ? null : limit.nano + account.raised;
}

/** No scope or window has a space in it. */
function nameOf({ scope, window }: AccountKey): string {
  return `${window} ${scope}`;
}

/** A calendar day or month of a time zone. */
interface CalendarWindow {
  readonly kind: "day" | "month";
  /** `2026-11-22` or `2026-11`. */
  readonly key: string;
  /** The first moment after the window, epoch ms. */
  readonly endsAt: number;
}

/** The windows that a moment is in. */
interface CurrentWindows {
  readonly day: CalendarWindow;
  readonly month: CalendarWindow;
}

/**
 * The calendar day and month of a moment (epoch ms) in a time zone (IANA name). A day begins with its first moment:
 * at one o'clock where the clock skips midnight, and one that is shown twice is one day.
 */
export function windowsAt(moment: number, timezone: string): CurrentWindows {
  const shown = new Date(shownAt(moment, timezone));
  const [year, month, day] = [shown.getUTCFullYear(), shown.getUTCMonth(), shown.getUTCDate()];
  const date = shown.toISOString().slice(0, "2026-11-22".length);
  const begins = (wall: number): number => momentsOf(wall, timezone).first;
  return {
    day: { kind: "day", key: date, endsAt: begins(Date.UTC(year, month, day + 1)) },
    month: {
      kind: "month",
      key: date.slice(0, "2026-11".length),
      endsAt: begins(Date.UTC(year, month + 1, 1)),
    },
  };
}

/** `windowsAt` with its last result cached, as each call to a model uses it. */
export function createCalendar(): typeof windowsAt {
  let known: { timezone: string; from: number; windows: CurrentWindows } | null = null;
  return (moment, timezone) => {
    const isKnown =
      known?.timezone === timezone && known.from <= moment && moment < known.windows.day.endsAt;
    if (!isKnown || known === null) {
      known = { timezone, from: moment, windows: windowsAt(moment, timezone) };
    }
    return known.windows;
  };
}
