import { capOf } from "../../streams/spend/accounts.ts";
import type { LimitedAccount } from "../../streams/spend/accounts.ts";
import { projectScope } from "../../streams/spend/budget.ts";
import type { Budgets } from "../../streams/spend/budget.ts";
import type { Ledger } from "../../streams/spend/ledger.ts";
import { usdOfNano } from "../../streams/spend/money.ts";
import type { BudgetState } from "../contracts/spend.ts";

/** The accounts of these agents and the project's, each once. `now` is epoch ms. */
export function budgetStates(
  ledger: Ledger,
  agents: readonly string[],
  budgetsOf: (agent: string) => Budgets,
  now: number,
): readonly BudgetState[] {
  const all = agents.flatMap((agent) => ledger.accountsOf(agent, budgetsOf(agent), now));
  const states = new Map(
    all.map((one) => [`${one.account.window} ${one.account.scope}`, stateOf(one)]),
  );
  const isProject = ({ scope }: BudgetState): boolean => scope === projectScope;
  const found = [...states.values()];
  return [...found.filter(isProject), ...found.filter((state) => !isProject(state))];
}

/** The limit that can't pay a call of the agent until its window turns, the one that lasts longest; null for none. */
export function exhaustedState(
  ledger: Ledger,
  agent: string,
  budgets: Budgets,
  now: number,
): BudgetState | null {
  const [longest] = ledger
    .accountsOf(agent, budgets, now)
    .filter(isExhausted)
    .toSorted((a, b) => (b.account.endsAt ?? 0) - (a.account.endsAt ?? 0));
  return longest === undefined ? null : stateOf(longest);
}

/** All is spent, or a call was refused under the limit as it still is. */
function isExhausted(limited: LimitedAccount): boolean {
  const cap = capOf(limited);
  if (cap === null) return false;
  const { spent, refusedUnder } = limited.account;
  return spent >= cap || (refusedUnder !== null && refusedUnder >= cap);
}

function stateOf(limited: LimitedAccount): BudgetState {
  const { scope, window, endsAt, spent, reserved } = limited.account;
  const cap = capOf(limited);
  const amounts = { usd: usdOfNano(spent), reserved: usdOfNano(reserved) };
  return { scope, window, endsAt, ...amounts, limit: cap === null ? null : usdOfNano(cap) };
}
