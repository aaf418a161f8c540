import { nanoOfUsd, usdText } from "../../streams/spend/money.ts";
import type { SpendForecast, SpendLimit, SpendRowView } from "./spend-report.ts";

/** An amount for a person: `$3.10`. */
export function dollars(usd: number): string {
  return usdText(nanoOfUsd(usd));
}

/** What the schedules will cost: `about $3.10 a month (p90 $7.00)`. */
export function forecastText({ monthUsd, p90Usd }: SpendForecast): string {
  return `about ${dollars(monthUsd)} a month (p90 ${dollars(p90Usd)})`;
}

/** What is spent of a limit: `$1.20 of $5.00, $0.10 reserved`. */
export function spentText({ usd, limit, reserved }: SpendLimit): string {
  const spent = limit === null ? dollars(usd) : `${dollars(usd)} of ${dollars(limit)}`;
  return reserved === 0 ? spent : `${spent}, ${dollars(reserved)} reserved`;
}

/** Whose spending a scope is: `project`, or the name of an agent or of a run. */
export function scopeName(scope: string): string {
  return scope.replace(/^\w+:/, "");
}

/** How sure the cost of a row is; empty when all its calls were priced and reported. */
export function doubtText({ unpriced, estimated, subscriptionUsd }: SpendRowView): string {
  return [
    ...(unpriced === 0 ? [] : [`${unpriced} unpriced`]),
    ...(estimated === 0 ? [] : [`${estimated} estimated`]),
    ...(subscriptionUsd === 0 ? [] : [`${dollars(subscriptionUsd)} by subscription`]),
  ].join(", ");
}
