import { z } from "zod";
import { counted } from "../../contracts/format.ts";
import { forecastText } from "../../contracts/spend-text.ts";
import { forecastOf, forecastRuns, forecastUsd } from "../../spend/forecast.ts";
import { readLastRuns } from "../../store/read-last-runs.ts";
import type { Context } from "../context.ts";

const scheduled = z.object({ schedule: z.string(), timezone: z.string() });

/** Notes what a schedule will cost by the agent's last runs, before it counts; nothing without such runs. */
export function noteForecast(
  { out, projectDir }: Pick<Context, "out" | "projectDir">,
  agent: string,
  config: object | null,
): void {
  const parsed = scheduled.safeParse(config);
  if (!parsed.success) return;
  const { schedule: expression, timezone } = parsed.data;
  const lastRuns = readLastRuns(projectDir, forecastRuns).get(agent) ?? [];
  const forecast = forecastOf({ expression, timezone }, lastRuns, Date.now());
  if (forecast === null) return;
  const text = forecastText(forecastUsd(forecast));
  out.note(`${agent} will cost ${text}, by its last ${counted(forecast.runs, "run")}`);
}
