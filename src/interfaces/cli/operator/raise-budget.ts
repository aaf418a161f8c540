import { agentScope, projectScope, runScope } from "../../../foundation/contracts/budget.ts";
import { nanoOfUsd, usdText } from "../../../foundation/contracts/money.ts";
import type { BudgetRaised, SpendLimit } from "../../../foundation/contracts/spend-report.ts";
import type { Context } from "../context.ts";
import { connect, readSnapshot, unknownAgent } from "./connect.ts";

/** Raises the limits of a target that a person named, and prints those that it has now. */
export async function raiseBudget(context: Context, target: string, usd: number): Promise<void> {
  const { out } = context;
  const client = await connect(context);
  const names = (await readSnapshot(client)).agents.map(({ name }) => name);
  const scope = scopeOf(target, names);
  const path = `/api/budgets/${encodeURIComponent(scope)}/raise`;
  const answer = (await client.post(path, { usd })) as BudgetRaised;
  if (out.json) return out.document(answer);
  out.data(`the budget of ${target} is raised by ${usdText(nanoOfUsd(usd))}`);
  for (const line of answer.limits.flatMap(limitLine)) out.data(line);
}

/** A scope may be written as the API has it, too. */
function scopeOf(target: string, agents: readonly string[]): string {
  if ([projectScope, agentScope, runScope].some((scope) => isScope(target, scope))) return target;
  if (agents.includes(target)) return agentScope(target);
  const agent = /^(.+)-[a-z0-9]{8}$/i.exec(target)?.[1];
  if (agent !== undefined && agents.includes(agent)) return runScope(target);
  throw unknownAgent(target, agents);
}

function isScope(target: string, scope: string | ((name: string) => string)): boolean {
  return typeof scope === "string" ? target === scope : target.startsWith(scope(""));
}

/** `2026-11-22  $0.50 of $7.00`; none for a window without a limit. */
function limitLine({ window, usd, limit }: SpendLimit): readonly string[] {
  if (limit === null) return [];
  return [`${window}  ${usdText(nanoOfUsd(usd))} of ${usdText(nanoOfUsd(limit))}`];
}
