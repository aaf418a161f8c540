import type { SpendLimit } from "./spend-report.ts";
import type { InMs } from "../../../streams/iso-times.ts";
import { capOf, type LimitedAccount } from "./rules/accounts.ts";
import { limitsOf, projectScope } from "../../foundation/contracts/budget.ts";
import type { Budgets, AccountKey } from "../../foundation/contracts/budget.ts";
import type { Ledger } from "./rules/ledger.ts";
import type { RunTotals } from "./rules/ledger-events.ts";
import { usdOfNano, type NanoUsd } from "../../foundation/contracts/money.ts";

/** The spending of a run so far. */
export interface RunSpend {
  readonly instanceId: string;
  readonly agent: string;
  readonly usd: number;
  readonly reservedUsd: number;
  /** Answers of models, and calls that wait for one. */
  readonly turns: number;
  /** Tokens of requests and answers, including cached ones. */
  readonly tokens: number;
}

/** A limit and the spending against it, in USD; its window turns at `endsAt`, epoch ms. */
export type BudgetState = InMs<SpendLimit, "endsAt">;

/** The project's accounts, then those of these agents. `now` is epoch ms. */
export function budgetStates(
  ledger: Ledger,
  agents: readonly string[],
  budgetsOf: (agent: string | null) => Budgets,
  now: number,
): readonly BudgetState[] {
  const own = agents
    .flatMap((agent) => ledger.accountsOf(agent, budgetsOf(agent), now))
    .filter(({ account }) => account.scope !== projectScope);
  return [...ledger.projectAccounts(budgetsOf(null), now), ...own].map(stateOf);
}

/**
 * The limit that blocks calls of the agent the longest, until its window turns or it is raised; null if none does. With
 * an instance id, the run's own limit is included.
 */
export function exhaustedState(
  ledger: Ledger,
  { agent, instanceId }: { readonly agent: string; readonly instanceId: string | null },
  budgets: Budgets,
  now: number,
): BudgetState | null {
  const shared = ledger.accountsOf(agent, budgets, now);
  const { run: limit } = limitsOf(budgets);
  const own = instanceId === null ? [] : [{ account: ledger.runAccount(instanceId, now), limit }];
  const [longest] = [...own, ...shared]
    .filter(isExhausted)
    .toSorted((a, b) => lasts(b.account) - lasts(a.account));
  return longest === undefined ? null : stateOf(longest);
}

/** A run's limit has no window. */
function lasts({ endsAt }: AccountKey): number {
  return endsAt ?? Number.MAX_SAFE_INTEGER;
}

/** The spending of a run, in USD. */
export function runSpend(
  instanceId: string,
  agent: string,
  { spent, reserved, turns, tokens }: RunTotals,
): RunSpend {
  return {
    instanceId,
    agent,
    usd: usdOfNano(spent),
    reservedUsd: usdOfNano(reserved),
    turns,
    tokens,
  };
}

/** All is spent, or the last rejected call needs more than the limit. */
function isExhausted(limited: LimitedAccount): boolean {
  const cap = capOf(limited);
  return cap !== null && (limited.account.spent >= cap || neededOf(limited) !== null);
}

/** The amount that the last rejected call needs; null if the limit could pay it now. */
function neededOf(limited: LimitedAccount): NanoUsd | null {
  const cap = capOf(limited);
  const { spent, neededCap } = limited.account;
  return cap === null || neededCap === null || neededCap <= Math.max(cap, spent)
    ? null
    : neededCap - spent;
}

function stateOf(limited: LimitedAccount): BudgetState {
  const { scope, window, endsAt, spent, reserved } = limited.account;
  const cap = capOf(limited);
  const amounts = { usd: usdOfNano(spent), reserved: usdOfNano(reserved) };
  const limit = cap === null ? null : usdOfNano(cap);
  const needed = neededOf(limited);
  const state = { scope, window, endsAt, ...amounts, limit };
  return needed === null ? state : { ...state, needed: usdOfNano(needed) };
}
