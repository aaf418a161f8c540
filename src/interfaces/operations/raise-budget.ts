import { agentScope, projectScope, runScope } from "../../foundation/contracts/budget.ts";
import { OperationError } from "../../foundation/contracts/operations.ts";
import type { SpendMeter } from "../../foundation/contracts/spend.ts";
import type { SpendLimit } from "../../foundation/contracts/spend-report.ts";
import type { LiveRuns } from "../../runtime/runs/live-runs.ts";
import { knownAgent } from "./runnable.ts";
import { limitView } from "./spend-answer.ts";
import type { StatusStore } from "../../runtime/scheduler/status-store.ts";

export interface RaiseBudgetDeps {
  readonly status: Pick<StatusStore, "agent">;
  readonly runs: Pick<LiveRuns, "find">;
  readonly meter: Pick<SpendMeter, "limits" | "raise">;
}

/** Adds to the limits of a scope; resolves with those of its day and month, once that is stored. */
export async function raiseBudget(
  scope: string,
  usd: number,
  deps: RaiseBudgetDeps,
): Promise<readonly SpendLimit[]> {
  const agent = agentOf(scope, deps);
  await deps.meter.raise(scope, usd);
  const limits = deps.meter.limits(agent === null ? [] : [agent]);
  return limits.filter((limit) => limit.scope === scope).map(limitView);
}

/** The agent whose limits are raised; null for the project's and a run's. Throws an OperationError. */
function agentOf(scope: string, { status, runs }: RaiseBudgetDeps): string | null {
  const rest = (prefix: string): string | null =>
    scope.startsWith(prefix) ? scope.slice(prefix.length) : null;
  const agent = rest(agentScope(""));
  if (agent !== null) return knownAgent(status, agent).name;
  if (scope === projectScope) return null;
  const instanceId = rest(runScope(""));
  if (instanceId === null) {
    const expected = "expected project, agent:<name> or run:<instance id>";
    throw new OperationError(
      "unknown_budget",
      `there is no budget ${JSON.stringify(scope)}; ${expected}`,
    );
  }
  if (runs.find(instanceId) === undefined) {
    throw new OperationError("unknown_instance", `no run "${instanceId}" is running`);
  }
  return null;
}
