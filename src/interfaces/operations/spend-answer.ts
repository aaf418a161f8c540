import { usdOfNano } from "../../foundation/contracts/money.ts";
import { windowsAt } from "../../features/spend/rules/windows.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { BudgetState } from "../../foundation/contracts/spend.ts";
import type {
  SpendAnswer,
  SpendForecast,
  SpendLimit,
  SpendRequest,
  SpendRowView,
} from "../../foundation/contracts/spend-report.ts";
import {
  forecastOf,
  forecastRuns,
  forecastUsd,
  noRuns,
  scheduleOf,
  totalForecast,
} from "../../features/spend/forecast.ts";
import type { SpendReport } from "../../foundation/store/spend-report.ts";
import type { SpendRow } from "../../foundation/store/spend-rows.ts";

export interface SpendAnswerDeps {
  readonly report: SpendReport;
  /** The limits of these agents and the project's, with what is spent of them. */
  readonly limits: (agents: readonly string[]) => readonly BudgetState[];
  readonly agents: () => Iterable<AgentRecord>;
  /** The project's, IANA name. */
  readonly timezone: () => string;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Days of a report that names no beginning, today among them. */
const reportedDays = 30;
const dayMs = 86_400_000;

/** Answers `GET /api/spend`. */
export function createSpendAnswers(deps: SpendAnswerDeps): (asked: SpendRequest) => SpendAnswer {
  const { report, timezone } = deps;
  return ({ by, since, agent = null }) => {
    const now = deps.now();
    const agents = [...deps.agents()].filter(({ name }) => agent === null || name === agent);
    // The end of the day before, so that the first day is whole.
    const from = windowsAt(now - reportedDays * dayMs, timezone()).day.endsAt;
    const rows = report.rows({ by, since: since === undefined ? from : Date.parse(since), agent });
    const limits = deps.limits(agents.map(({ name }) => name));
    return {
      rows: rows.map(rowView),
      limits: limits.map(limitView),
      forecast: forecastView(agents, report, now),
    };
  };
}

function rowView({ key, nano, subscriptionNano, ...counts }: SpendRow): SpendRowView {
  const { calls, tokens, unpriced, estimated } = counts;
  const amounts = { usd: usdOfNano(nano), subscriptionUsd: usdOfNano(subscriptionNano) };
  return { key, ...amounts, calls, tokens, unpriced, estimated };
}

/** A limit as the API has it. */
export function limitView({ endsAt, ...state }: BudgetState): SpendLimit {
  return { ...state, endsAt: endsAt === null ? null : new Date(endsAt).toISOString() };
}

/** Null when no agent that is started by itself asked a model in a run. */
function forecastView(
  agents: readonly AgentRecord[],
  report: SpendReport,
  now: number,
): SpendForecast | null {
  const started = agents.flatMap(({ name, config, enabled }) =>
    config === null || !enabled || config.scale === 0 ? [] : [{ name, config }],
  );
  const names = started.map(({ name }) => name);
  const lastRuns = report.lastRuns(forecastRuns, names);
  const forecasts = started.map(({ name, config }) =>
    forecastOf(scheduleOf(config), lastRuns.get(name) ?? noRuns, now),
  );
  const total = totalForecast(forecasts);
  return total && forecastUsd(total);
}
