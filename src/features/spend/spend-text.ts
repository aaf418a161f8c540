import { nanoOfUsd, usdText } from "../../foundation/contracts/money.ts";
import { raiseCommand, usedUpText } from "../../foundation/contracts/budget.ts";
import type { AgentStatus } from "../../../streams/status/wire.ts";
import { relativeTime } from "../../foundation/contracts/format.ts";
import type { SpendForecast, SpendLimit, SpendRowView } from "./spend-report.ts";

/** An amount for a person: `$3.10`. */
export function dollars(usd: number): string {
  return usdText(nanoOfUsd(usd));
}

/** The future cost of agents: `about $3.10 a month (p90 $7.00)`. */
export function forecastText({ monthUsd, p90Usd }: SpendForecast): string {
  return `about ${dollars(monthUsd)} a month (p90 ${dollars(p90Usd)})`;
}

const dayMs = 86_400_000;

/** The cost of a month at its end: its cost so far, and the forecast for the rest. Null without a forecast. */
export function monthEndUsd(
  month: SpendLimit | undefined,
  forecast: SpendForecast | null,
  now: number,
): number | null {
  if (forecast === null || month?.endsAt === undefined || month.endsAt === null) return null;
  const restDays = Math.max(0, Date.parse(month.endsAt) - now) / dayMs;
  return month.usd + (forecast.monthUsd * restDays) / 30;
}

/** The last day of a month such as `2026-11`: `Nov 30`. */
export function lastDayText(month: string): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  const day = new Date(Date.UTC(year, number, 0));
  return day.toLocaleDateString("en", { month: "short", day: "numeric", timeZone: "UTC" });
}

/** The spent part of a limit: `$1.20 of $5.00, $0.10 reserved`. */
export function spentText({ usd, limit, reserved }: SpendLimit): string {
  const spent = limit === null ? dollars(usd) : `${dollars(usd)} of ${dollars(limit)}`;
  return reserved === 0 ? spent : `${spent}, ${dollars(reserved)} reserved`;
}

/** Why an agent's work does not run: `daily budget used up: $5.00 of $5.00 spent; resets in 7 h`. */
export function usedBudgetText(
  { scope, window, endsAt, usd, limit, needed }: UsedBudget,
  now: number,
): string {
  const amounts = { spent: nanoOfUsd(usd), cap: nanoOfUsd(limit) };
  const needs = needed === undefined ? {} : { needed: nanoOfUsd(needed) };
  const why = usedUpText({ scope, window, endsAt: null, ...amounts, ...needs });
  return `${why}; resets ${relativeTime(Math.max(now, Date.parse(endsAt)), now)}`;
}

/** Text of a used budget, with the command that raises it. */
export function usedBudgetAdvice(budget: UsedBudget, now: number): string {
  return `${usedBudgetText(budget, now)}. Raise it: ${raiseCommand(budget.scope)}`;
}

type UsedBudget = NonNullable<AgentStatus["usedBudget"]>;

/** Whose spending a scope is: `project`, or the name of an agent or of a run. */
export function scopeName(scope: string): string {
  return scope.replace(/^\w+:/, "");
}

/** How sure the cost of a row is; empty when all its calls were priced and reported. */
export function doubtText({ unpriced, estimated, subscriptionUsd }: SpendRowView): string {
  return [
    ...(unpriced === 0 ? [] : [`${unpriced} unpriced`]),
    ...(estimated === 0 ? [] : [`${estimated} estimated`]),
    ...(subscriptionUsd === 0 ? [] : [`${dollars(subscriptionUsd)}  paid by subscription`]),
  ].join(", ");
}
