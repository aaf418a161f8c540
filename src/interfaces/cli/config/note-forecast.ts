import { readLastRuns } from "../../../features/spend/call-totals.ts";
import { countTicks } from "../../../../streams/triggers/count-ticks.ts";
import type { Schedule } from "../../../../streams/agent-config.ts";
import { z } from "zod";
import { counted } from "../../../foundation/contracts/format.ts";
import { dollars, forecastText } from "../../../features/spend/spend-text.ts";
import {
  forecastMs,
  forecastOf,
  forecastRuns,
  forecastUsd,
  noRuns,
} from "../../../features/spend/forecast.ts";
import type { Forecast } from "../../../features/spend/forecast.ts";
import type { Context } from "../context.ts";

const scheduled = z.object({
  schedule: z.string().nullish(),
  schedules: z.array(z.object({ cron: z.string(), timezone: z.string() })).default([]),
  timezone: z.string(),
});

/** Notes the forecast of an agent's cost by its last runs, before a schedule is saved; false without such runs. */
export function noteForecast(
  { out, projectDir }: Pick<Context, "out" | "projectDir">,
  agent: string,
  config: object | null,
): boolean {
  const parsed = scheduled.safeParse(config);
  if (!parsed.success) return false;
  const { schedule, schedules, timezone } = parsed.data;
  const all = [...(schedule == null ? [] : [{ cron: schedule, timezone }]), ...schedules];
  const lastRuns = readLastRuns(projectDir, forecastRuns).get(agent) ?? noRuns;
  const due = all.map(({ cron: expression, timezone: zone }) => ({ expression, timezone: zone }));
  const forecast = forecastOf(due, lastRuns, Date.now());
  if (forecast === null) return false;
  const text = forecastText(forecastUsd(forecast));
  const costs = `by ${forecast.runs === 1 ? "its last run" : `its last ${forecast.runs} runs`}`;
  out.note(`${agent} will cost ${text}: ${runsText(forecast)}, ${costs}`);
  return true;
}

/** `30 runs by its schedule and 12 runs by webhooks and calls`. */
function runsText({ ticks, triggered }: Forecast): string {
  const others = Math.round(triggered);
  const parts = [
    ...(ticks === 0 ? [] : [`${counted(ticks, "run")} on its schedule`]),
    ...(others === 0 ? [] : [`about ${counted(others, "run")} from webhooks and calls`]),
  ];
  return parts.length === 0 ? "less than one run" : parts.join(" and ");
}

/** A schedule of an agent without a run. */
export interface FirstSchedule extends Schedule {
  readonly agent: string;
  /** Limit of a run, USD; null for no limit. */
  readonly runUsd: number | null;
}

/** Notes how often a new agent will run, and the limit of a run: no run is on record yet. */
export function noteFirstSchedule(
  out: Context["out"],
  { agent, runUsd, ...schedule }: FirstSchedule,
): void {
  const now = Date.now();
  const times = counted(countTicks(schedule, now, now + forecastMs), "time");
  const most = runUsd === null ? "" : ` A run can spend at most ${dollars(runUsd)}.`;
  out.note(
    `${agent} will run about ${times} in 30 days.${most} \`al cost\` shows actual costs after the first runs.`,
  );
}
