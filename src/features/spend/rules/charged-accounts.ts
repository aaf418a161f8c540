import {
  agentScope,
  limitsOf,
  projectScope,
  runScope,
  wholeRun,
} from "../../../foundation/contracts/budget.ts";
import type { Budgets, Limit } from "../../../foundation/contracts/budget.ts";
import { createAccounts, createCalendar } from "./accounts.ts";
import type { Account, LimitedAccount, ReadAccount } from "./accounts.ts";

/** The accounts that calls are charged to, with their limits. `now` is epoch ms. */
export function createChargedAccounts(read: ReadAccount) {
  const { of, forget, size } = createAccounts(read);
  const calendar = createCalendar();

  const whole = (scope: string, now: number): Account =>
    of({ scope, window: wholeRun, endsAt: null }, now);
  const windowsOf = (scope: string, timezone: string, now: number): readonly [Account, Account] => {
    const { day, month } = calendar(now, timezone);
    return [
      of({ scope, window: day.key, endsAt: day.endsAt }, now),
      of({ scope, window: month.key, endsAt: month.endsAt }, now),
    ];
  };
  const projectAccounts = (budgets: Budgets, now: number): LimitedAccount[] => {
    const { projectDay, projectMonth } = limitsOf(budgets);
    return limited(windowsOf(projectScope, budgets.timezone, now), projectDay, projectMonth);
  };
  return {
    size,
    /** The account of a run's scope. */
    whole,
    runAccount: (instanceId: string, now: number) => whole(runScope(instanceId), now),
    forgetRun: (instanceId: string) =>
      forget({ scope: runScope(instanceId), window: wholeRun, endsAt: null }),
    /** The accounts of a scope for this day and this month. */
    windowsOf,
    projectAccounts,
    /** The accounts of an agent, and of the project. */
    sharedAccounts: (agent: string, budgets: Budgets, now: number): LimitedAccount[] => {
      const { agentDay, agentMonth } = limitsOf(budgets);
      const own = limited(
        windowsOf(agentScope(agent), budgets.timezone, now),
        agentDay,
        agentMonth,
      );
      return [...own, ...projectAccounts(budgets, now)];
    },
  };
}

function limited(
  [day, month]: readonly [Account, Account],
  ofDay: Limit,
  ofMonth: Limit,
): LimitedAccount[] {
  return [
    { account: day, limit: ofDay },
    { account: month, limit: ofMonth },
  ];
}
