import { countTicks } from "../../streams/triggers/count-ticks.ts";
import type { Schedule } from "../../streams/triggers/next-tick.ts";
import { usdOfNano } from "../../streams/spend/money.ts";
import type { NanoUsd } from "../../streams/spend/money.ts";
import type { SpendForecast } from "../contracts/spend-report.ts";

/** What an agent's schedule will cost, by what its last runs did. */
export interface Forecast {
  /** In the next 30 days. */
  readonly ticks: number;
  /** Runs that it is worked out from. */
  readonly runs: number;
  /** With runs of the usual cost: half of the last ones cost no more. */
  readonly monthNano: NanoUsd;
  /** With runs as dear as the dearest tenth of the last ones. */
  readonly monthP90Nano: NanoUsd;
}

/** How many of the last runs a forecast is worked out from. */
export const forecastRuns = 20;

const monthMs = 30 * 86_400_000;

/** Null without a run to work it out from: that a schedule costs nothing is no forecast. `now` is epoch ms. */
export function forecastOf(
  schedule: Schedule,
  lastRuns: readonly NanoUsd[],
  now: number,
): Forecast | null {
  const costs = lastRuns.slice(0, forecastRuns).toSorted((a, b) => a - b);
  if (costs.length === 0) return null;
  const ticks = countTicks(schedule, now, now + monthMs);
  const month = (percent: number): NanoUsd => percentile(costs, percent) * ticks;
  return { ticks, runs: costs.length, monthNano: month(50), monthP90Nano: month(90) };
}

/** All agents' together; null when there is none. */
export function totalForecast(
  forecasts: Iterable<Forecast | null>,
): Pick<Forecast, "monthNano" | "monthP90Nano"> | null {
  const known = [...forecasts].filter((one) => one !== null);
  if (known.length === 0) return null;
  return {
    monthNano: known.reduce((sum, { monthNano }) => sum + monthNano, 0),
    monthP90Nano: known.reduce((sum, { monthP90Nano }) => sum + monthP90Nano, 0),
  };
}

/** The amounts of a forecast in USD. */
export function forecastUsd({
  monthNano,
  monthP90Nano,
}: Pick<Forecast, "monthNano" | "monthP90Nano">): SpendForecast {
  return { monthUsd: usdOfNano(monthNano), p90Usd: usdOfNano(monthP90Nano) };
}

/** The least of the sorted values that so many percent are not above ("nearest rank"). */
function percentile(sorted: readonly number[], percent: number): number {
  const rank = Math.ceil((sorted.length * percent) / 100);
  return sorted[rank - 1] ?? 0;
}
