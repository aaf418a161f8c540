import type { Budgets, AccountKey } from "../../foundation/contracts/budget.ts";
import type { Ledger } from "./rules/ledger.ts";
import type { CallPlan } from "../../foundation/contracts/model-gateway.ts";
import type { ModelTerms } from "../../foundation/contracts/spend.ts";
import { nanoOfUsd } from "../../foundation/contracts/money.ts";
import { ratesOf } from "./call-cost.ts";
import { isHeld, type Refused, type Reserved } from "./refusals.ts";

/** Money for calls that begin, from the accounts of a ledger. */
export interface Reservations {
  /** Waits for money that open calls hold. Rejects with the reason of `signal`. */
  reserve(plan: CallPlan, terms: ModelTerms, signal: AbortSignal): Promise<Reserved | Refused>;
  /** The call does not begin. */
  cancel(plan: CallPlan, reserved: Reserved): void;
  /** Money came back to these accounts, or their limits changed. */
  freed(accounts: readonly AccountKey[]): void;
}

/** How long a call waits for money that open calls hold, in ms: its client waits ten minutes for the answer. */
const longestHeldMs = 120_000;

/** No calls at first. `now` gives epoch ms. */
export function createReservations(
  ledger: Ledger,
  budgetsOf: (agent: string) => Budgets,
  now: () => number,
): Reservations {
  const held = createHeldMoney<Reserved | Refused>(longestHeldMs);
  let calls = 0;

  const reserveNow = (call: string, plan: CallPlan, terms: ModelTerms): Reserved | Refused => {
    const { instanceId, agent, requestBytes, maxOutputTokens, minOutputTokens } = plan;
    const tokens = { maxOutputTokens, minOutputTokens, modelMaxTokens: terms.maxOutputTokens };
    const who = { call, instanceId, agent, budgets: budgetsOf(agent) };
    const rates = ratesOf(plan, terms);
    const approved = plan.approvedUsd == null ? null : nanoOfUsd(plan.approvedUsd);
    const command = { type: "reserve", ...who, requestBytes, approved, ...tokens, rates } as const;
    const [event] = ledger.apply(command, now());
    if (event?.type === "reserved" || event?.type === "refused") return event;
    throw new Error("a ledger neither reserved nor refused");
  };
  return {
    reserve: (plan, terms, signal) => {
      const call = `${++calls}`;
      const once = (): Reserved | Refused => reserveNow(call, plan, terms);
      const attempt = () => {
        const event = once();
        return isHeld(event) ? { heldBy: event.refusal } : { result: event };
      };
      return held.get(attempt, once, signal);
    },
    cancel: ({ agent }, { call, accounts }) => {
      const none = {
        nano: 0,
        inputTokens: null,
        isTurn: false,
        tokens: 0,
        budgets: budgetsOf(agent),
      };
      ledger.apply({ type: "settle", call, ...none }, now());
      held.freed(accounts);
    },
    freed: (accounts) => held.freed(accounts),
  };
}

/** An attempt to get money: its result, or the account whose open calls hold the money. */
type Attempt<T> = () => { readonly result: T } | { readonly heldBy: AccountKey };

interface Waiter<T> {
  readonly attempt: Attempt<T>;
  /** Settles the promise with the result of this, or its error. */
  readonly finish: (result: () => T) => void;
  /** The budget account whose lack of money this request waits for. */
  account: string;
}

/** Requests that wait for money, in order for each account; one that still lacks money blocks those behind it. */
function createHeldMoney<T>(longestMs: number) {
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
  /** False when the account is still short, and so for all requests behind this one. */
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
          // A failed read of the store must not fail the call that returned money.
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
    /** Attempts now and whenever money is freed; after the longest wait, `last` decides. */
    get: async (attempt: Attempt<T>, last: () => T, signal: AbortSignal): Promise<T> => {
      signal.throwIfAborted();
      const first = attempt();
      return "result" in first ? first.result : wait(attempt, nameOf(first.heldBy), last, signal);
    },
    /** Money came back to these accounts, or their limits changed. */
    freed: (accounts: readonly AccountKey[]) => {
      for (const key of accounts) {
        for (const waiter of queues.get(nameOf(key)) ?? []) if (!retry(waiter)) break;
      }
    },
  };
}

/** The account that holds the waiter's money; null if the waiter is finished. */
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
