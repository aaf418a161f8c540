import type { SpendKey } from "../../../foundation/contracts/spend-options.ts";
import type { SpendAnswer, SpendRowView } from "../../../foundation/contracts/spend-report.ts";
import {
  dollars,
  doubtText,
  forecastText,
  scopeName,
  spentText,
} from "../../../foundation/contracts/spend-text.ts";
import { plainLine } from "../terminal/format.ts";
import type { Output } from "../terminal/output.ts";
import { renderTable } from "../terminal/table.ts";

type Style = Pick<Output, "colors" | "columns">;

const titles: Readonly<Record<SpendKey, string>> = { agent: "Agent", model: "Model", day: "Day" };

/**
 * Spending as a table with its sum, then the limits, then the forecast; parts without content are left out. Names are
 * whole: other commands take them.
 */
export function renderCost(
  { rows, limits, forecast }: SpendAnswer,
  by: SpendKey,
  style: Style,
): string {
  const { colors, columns: width } = style;
  const used = limits.filter(
    ({ usd, limit, reserved }) => usd > 0 || reserved > 0 || limit !== null,
  );
  const limitRows = used.map((one) => [scopeName(one.scope), one.window, spentText(one)]);
  const parts = [
    ...(rows.length === 0 ? [] : [table(rows, by, style)]),
    ...(used.length === 0
      ? []
      : [
          renderTable(
            [{ title: "Of" }, { title: "In" }, { title: "Spent", shrinks: true }],
            limitRows,
            {
              width,
              colors,
            },
          ),
        ]),
    ...(forecast === null ? [] : [`Agents will cost ${forecastText(forecast)}.`]),
    ...(rows.some(({ unpriced, usd }) => unpriced > 0 && usd > 0)
      ? [colors.yellow(unpricedNote)]
      : []),
  ];
  return parts.join("\n\n");
}

const unpricedNote =
  "Unpriced calls count at the dearest price of their provider; al doctor names their models.";

function table(rows: readonly SpendRowView[], by: SpendKey, { colors, columns }: Style): string {
  const cells = rows.map((row) => [
    plainLine(row.key),
    dollars(row.usd),
    row.calls.toLocaleString("en"),
    row.tokens.toLocaleString("en"),
    colors.yellow(doubtText(row)),
  ]);
  const total = rows.reduce((sum, { usd }) => sum + usd, 0);
  const sum = rows.length === 1 ? [] : [["all", dollars(total), "", "", ""]];
  const head = [titles[by], "Cost", "Calls", "Tokens", ""];
  return renderTable(
    head.map((title) => (title === "" ? { title, shrinks: true } : { title })),
    [...cells, ...sum],
    { width: columns, colors },
  );
}
