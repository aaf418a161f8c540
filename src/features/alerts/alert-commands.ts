import type { AlertCommand, BudgetCommand } from "./rules/alert-command.ts";
import { agentScope, runScope } from "../../foundation/contracts/budget.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { BudgetWarning } from "../../foundation/contracts/spend.ts";

/** What an earlier scheduler left of its times, epoch ms; null before the first one. */
export interface EarlierTimes {
  readonly aliveAt: number | null;
  readonly stoppedAt: number | null;
}

/** A stop for less than this, in ms, is a restart. */
const shortestMs = 120_000;

/** The alert for a time without a scheduler; null after a restart and at the first start. A death is always alerted. */
export function downCommand(
  { aliveAt, stoppedAt }: EarlierTimes,
  now: number,
): AlertCommand | null {
  const last = Math.max(aliveAt ?? 0, stoppedAt ?? 0);
  const crashed = (aliveAt ?? 0) > (stoppedAt ?? 0);
  const downMs = Math.max(0, now - last);
  if (last === 0 || (!crashed && downMs < shortestMs)) return null;
  return { type: "scheduler-down", downMs, crashed };
}

/** The alert for a passed percentage; null for a budget of one run, whose end is alerted itself. */
export function budgetCommand(warning: BudgetWarning): BudgetCommand | null {
  const { scope, window, percent, usd, limitUsd } = warning;
  if (scope.startsWith(runScope(""))) return null;
  return { type: "budget", agent: agentOf(scope), window, percent, usd, limitUsd };
}

/** A budget that is used up is at 100 %, though a call that it can't pay leaves some of it. */
export function usedBudgetCommand(event: RunEvent): BudgetCommand | null {
  if (event.type !== "used-budget" || event.budget === null) return null;
  const { scope, window, usd, limit } = event.budget;
  return { type: "budget", agent: agentOf(scope), window, percent: 100, usd, limitUsd: limit };
}

/** Null for the project's. */
function agentOf(scope: string): string | null {
  const prefix = agentScope("");
  return scope.startsWith(prefix) ? scope.slice(prefix.length) : null;
}
