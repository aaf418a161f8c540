import { projectScope, type SpendKey } from "../../../foundation/contracts/budget.ts";
import type { SpendAnswer, SpendRowView } from "../../../features/spend/spend-report.ts";
import {
  dollars,
  doubtText,
  forecastText,
  scopeName,
  spentText,
} from "../../../features/spend/spend-text.ts";
import { plainLine } from "../terminal/format.ts";
import type { Output } from "../terminal/output.ts";
import { renderTable, titled } from "../terminal/table.ts";

const titles: Readonly<Record<SpendKey, string>> = { agent: "Agent", model: "Model", day: "Day" };

/**
 * Spending as a table with its sum, then the project's and all limits, then the forecast; empty parts are omitted. Names
 * are never cut: other commands take them.
 */
export function renderCost(
  { rows, limits, forecast }: SpendAnswer,
  by: SpendKey,
  style: Output,
): string {
  const used = limits
    .filter(({ scope, usd, limit }) => limit !== null || (scope === projectScope && usd > 0))
    .map((one) => [scopeName(one.scope), one.window, spentText(one)]);
  const isDoubtful = rows.some(({ unpriced, usd }) => unpriced > 0 && usd > 0);
  return [
    rows.length === 0 ? null : table(rows, by, style),
    used.length === 0 ? null : renderTable(titled("Of", "In", "Spent…"), used, style),
    forecast === null ? null : `Agents will cost ${forecastText(forecast)}.`,
    isDoubtful ? style.colors.yellow(unpricedNote) : null,
  ]
    .filter((part) => part !== null)
    .join("\n\n");
}

const unpricedNote =
  "Unpriced calls are charged at their provider's highest price; al doctor lists their models.";

function table(rows: readonly SpendRowView[], by: SpendKey, style: Output): string {
  const cells = rows.map((row) => [
    plainLine(row.key),
    dollars(row.usd),
    row.calls.toLocaleString("en"),
    row.tokens.toLocaleString("en"),
    style.colors.yellow(doubtText(row)),
  ]);
  const total = rows.reduce((sum, { usd }) => sum + usd, 0);
  const sum = rows.length === 1 ? [] : [["all", dollars(total)]];
  const columns = titled(titles[by], "Cost", "Calls", "Tokens", "…");
  return renderTable(columns, [...cells, ...sum], style);
}
