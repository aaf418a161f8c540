import type { AgentRuns } from "./call-totals.ts";
import { countTicks } from "../../../streams/triggers/count-ticks.ts";
import type { Schedule } from "../../../streams/agent-config.ts";
import { usdOfNano, type NanoUsd } from "../../foundation/contracts/money.ts";
import type { SpendForecast } from "./spend-report.ts";

/** The cost of runs in a month. */
export interface MonthForecast {
  /** Cost if each run costs the median of the last ones. */
  readonly monthNano: NanoUsd;
  /** Cost if each run costs the 90th percentile of the last ones. */
  readonly monthP90Nano: NanoUsd;
}

/** The cost of an agent's runs in the next 30 days, by its last runs. */
export interface Forecast extends MonthForecast {
  /** Runs that its schedules start; those that calendars leave out are included. */
  readonly ticks: number;
  /** Runs that webhooks and calls start, by the rate of the last 30 days. */
  readonly triggered: number;
  /** Number of runs used for the costs. */
  readonly runs: number;
}

/** How many of the last runs a forecast uses. */
export const forecastRuns = 20;

/** Period of a forecast, in ms. */
export const forecastMs = 30 * 86_400_000;

/**
 * Null without past runs, or without a trigger: zero would not be a forecast. `now` is epoch ms.
 */
export function forecastOf(
  schedules: readonly Schedule[],
  { costs: lastCosts, triggered }: AgentRuns,
  now: number,
): Forecast | null {
  const costs = lastCosts.slice(0, forecastRuns).toSorted((a, b) => a - b);
  if (costs.length === 0 || (schedules.length === 0 && triggered === 0)) return null;
  const counts = schedules.map((schedule) => countTicks(schedule, now, now + forecastMs));
  const ticks = counts.reduce((sum, count) => sum + count, 0);
  const month = (percent: number): NanoUsd =>
    Math.round(percentile(costs, percent) * (ticks + triggered));
  return { ticks, triggered, runs: costs.length, monthNano: month(50), monthP90Nano: month(90) };
}

/** The runs of an agent that has not run yet. */
export const noRuns: AgentRuns = { costs: [], triggered: 0 };

/** Total over all agents; null without agents. */
export function totalForecast(forecasts: Iterable<Forecast | null>): MonthForecast | null {
  const known = [...forecasts].filter((one) => one !== null);
  if (known.length === 0) return null;
  return {
    monthNano: known.reduce((sum, { monthNano }) => sum + monthNano, 0),
    monthP90Nano: known.reduce((sum, { monthP90Nano }) => sum + monthP90Nano, 0),
  };
}

/** The amounts of a forecast in USD. */
export function forecastUsd({ monthNano, monthP90Nano }: MonthForecast): SpendForecast {
  return { monthUsd: usdOfNano(monthNano), p90Usd: usdOfNano(monthP90Nano) };
}

/** The least of the sorted values that so many percent are not above ("nearest rank"). */
function percentile(sorted: readonly number[], percent: number): number {
  const rank = Math.ceil((sorted.length * percent) / 100);
  return sorted[rank - 1] ?? 0;
}
