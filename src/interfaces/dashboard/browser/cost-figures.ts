import type { SpendAnswer, SpendLimit } from "../../../foundation/contracts/spend-report.ts";
import { dollars } from "../../../foundation/contracts/spend-text.ts";
import { byId, setText } from "./dom.ts";

/** Shows what is spent and reserved in the whole project now, and the forecast. */
export function showFigures({ limits, forecast }: SpendAnswer): void {
  const ofProject = limits.filter(({ scope }) => scope === "project");
  const today = ofProject.find(isDay);
  const month = ofProject.find((one) => !isDay(one));
  show("today", dollars(today?.usd ?? 0), noteOf(today));
  show("month", dollars(month?.usd ?? 0), noteOf(month));
  show("reserved", dollars(today?.reserved ?? 0), "by calls that are open");
  if (forecast === null)
    return show("forecast", "–", "no agent that starts by itself spent anything yet");
  show(
    "forecast",
    dollars(forecast.monthUsd),
    `p90 ${dollars(forecast.p90Usd)}, by schedules, triggers and the last runs`,
  );
}

/** A day is named `2026-11-22`, a month `2026-11`. */
export function isDay({ window }: Pick<SpendLimit, "window">): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(window);
}

function noteOf(limit: SpendLimit | undefined): string {
  if (limit?.limit === undefined || limit.limit === null) return "no limit";
  return `of ${dollars(limit.limit)}`;
}

function show(id: string, value: string, note: string): void {
  setText(byId(id), value);
  setText(byId(`${id}-note`), note);
}
