import { schedulesOf } from "../../../streams/agent-config.ts";
import { isoTimes } from "../../../streams/iso-times.ts";
import type { BudgetState } from "./budget-states.ts";
import type { SpendMeter } from "./meter.ts";
import { usdOfNano } from "../../foundation/contracts/money.ts";
import { windowsAt, createCalendar } from "./rules/accounts.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { SpendAnswer, SpendForecast, SpendLimit, SpendRequest } from "./spend-report.ts";
import { forecastOf, forecastRuns, forecastUsd, noRuns, totalForecast } from "./forecast.ts";
import type { SpendRow } from "./call-totals.ts";
import { Problem } from "../../foundation/errors.ts";
import { agentScope, projectScope, runScope } from "../../foundation/contracts/budget.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import type { StatusStore } from "../../foundation/scheduler/status-store.ts";
import type { DaySpend } from "../../../streams/spending.ts";
import type { SpendStore } from "./spend-store.ts";

export interface SpendAnswerDeps {
  readonly report: SpendStore;
  /** The limits of these agents and the project's, with the amounts spent. */
  readonly limits: (agents: readonly string[]) => readonly BudgetState[];
  readonly agents: () => Iterable<AgentRecord>;
  /** Time zone of the project, IANA name. */
  readonly timezone: () => string;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Days of a report without a start and without days, including today. */
const reportedDays = 30;
const dayMs = 86_400_000;

/** Answers `GET /api/spend`. */
export function createSpendAnswers(deps: SpendAnswerDeps): (asked: SpendRequest) => SpendAnswer {
  const { report, timezone } = deps;
  return ({ by, since, days = reportedDays, agent = null, top = 0 }) => {
    const now = deps.now();
    const agents = [...deps.agents()].filter(({ name }) => agent === null || name === agent);
    // Starts at the end of the previous day, so that the first day is complete.
    const from = windowsAt(now - days * dayMs, timezone()).day.endsAt;
    const query = { since: since === undefined ? from : Date.parse(since), agent };
    const rows = report.rows({ by, ...query });
    const agentsIn = top === 0 ? null : costsByAgent(report, { by, ...query }, top);
    const limits = deps.limits(agents.map(({ name }) => name));
    return {
      rows: rows.map((row) => ({
        key: row.key,
        ...spendView(row),
        ...(agentsIn && { agents: agentsIn(row.key) }),
      })),
      limits: limits.map((state) => isoTimes(state, "endsAt")),
      forecast: forecastView(agents, report, now),
    };
  };
}

/** The cost of the most expensive agents, US dollars by agent. */
function costsByAgent(
  report: SpendStore,
  query: Parameters<SpendStore["rows"]>[0],
  top: number,
): (key: string) => Readonly<Record<string, number>> {
  const agents = report.rows({ ...query, by: "agent" }).slice(0, top);
  const costs = agents.map(({ key: agent }) => {
    const rows = report.rows({ ...query, agent });
    return [agent, new Map(rows.map(({ key, nano }) => [key, usdOfNano(nano)]))] as const;
  });
  return (key) =>
    Object.fromEntries(
      costs.flatMap(([agent, usdBy]) => {
        const usd = usdBy.get(key);
        return usd === undefined ? [] : [[agent, usd] as const];
      }),
    );
}

/** Calls to models in the API's form. */
export function spendView({ nano, subscriptionNano, ...counts }: Omit<SpendRow, "key">) {
  const { calls, tokens, unpriced, estimated } = counts;
  const amounts = { usd: usdOfNano(nano), subscriptionUsd: usdOfNano(subscriptionNano) };
  return { ...amounts, calls, tokens, unpriced, estimated };
}

/** Null if no run of an agent with a trigger called a model. */
function forecastView(
  agents: readonly AgentRecord[],
  report: SpendStore,
  now: number,
): SpendForecast | null {
  const started = agents.flatMap(({ name, config, enabled }) =>
    config === null || !enabled || config.scale === 0 ? [] : [{ name, config }],
  );
  const names = started.map(({ name }) => name);
  const lastRuns = report.lastRuns(forecastRuns, names);
  const forecasts = started.map(({ name, config }) =>
    forecastOf(schedulesOf(config), lastRuns.get(name) ?? noRuns, now),
  );
  const total = totalForecast(forecasts);
  return total && forecastUsd(total);
}

export interface RaiseBudgetDeps {
  readonly status: StatusStore;
  /** Undefined for a run that is not live. */
  readonly runs: { readonly find: (instanceId: string) => unknown };
  readonly meter: SpendMeter;
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
  const own = limits.filter((limit) => limit.scope === scope);
  return own.map((limit) => isoTimes(limit, "endsAt"));
}

/** The agent whose limits are raised; null for the project's and a run's. Throws a Problem. */
function agentOf(scope: string, { status, runs }: RaiseBudgetDeps): string | null {
  const rest = (prefix: string): string | null =>
    scope.startsWith(prefix) ? scope.slice(prefix.length) : null;
  const agent = rest(agentScope(""));
  if (agent !== null) return knownAgent(status, agent).name;
  if (scope === projectScope) return null;
  const instanceId = rest(runScope(""));
  if (instanceId === null) {
    const expected = "expected project, agent:<name> or run:<instance id>";
    throw new Problem("unknown_budget", `there is no budget ${JSON.stringify(scope)}; ${expected}`);
  }
  if (runs.find(instanceId) === undefined) {
    throw new Problem("unknown_instance", `no run "${instanceId}" is running`);
  }
  return null;
}

/** An agent's stored spending of today, in the project's time zone; null if it has none. */
export function spentTodayIn(
  spend: SpendStore,
  timezone: () => string,
): (agent: string) => DaySpend | null {
  const calendar = createCalendar();
  return (agent) => {
    const { day } = calendar(Date.now(), timezone());
    const account = spend.account(agentScope(agent), day.key);
    return account && { usd: usdOfNano(account.spent), endsAt: day.endsAt };
  };
}
