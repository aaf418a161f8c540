/** @jsxImportSource preact */
import { counted } from "../../../foundation/contracts/format.ts";
import type { SpendAnswer, SpendRowView } from "../../../features/spend/spend-report.ts";
import { dollars, doubtText } from "../../../features/spend/spend-text.ts";
import { isDay } from "../text/spending.ts";
import { Bars } from "./bars.tsx";
import type { Bar } from "./bars.tsx";

const shownDays = 30;
const chartHeight = 120;
const dayMs = 86_400_000;

/** A bar for each of the last days, today on the right. */
export function Days({ spending: { rows, limits } }: { readonly spending: SpendAnswer }) {
  const last = limits.find(isDay)?.window ?? rows.at(-1)?.key ?? "";
  const byDay = new Map(rows.map((row) => [row.key, row]));
  const days = daysUntil(last);
  const most = Math.max(0, ...rows.map(({ usd }) => usd));
  const sum = rows.reduce((total, { usd }) => total + usd, 0);
  const reserved = limits.find((one) => isDay(one) && one.scope === "project")?.reserved ?? 0;
  const held = reserved === 0 ? "" : ` with ${dollars(reserved)} reserved`;
  return (
    <div id="days">
      <p class="muted chart-note">
        {`${dollars(sum)} in all${held}, at most ${dollars(most)} a day`}
      </p>
      <Bars
        bars={days.map((day) => dayBar(day, byDay.get(day)))}
        height={chartHeight}
        label={`Cost of the last ${shownDays} days: ${dollars(sum)}, at most ${dollars(most)} a day`}
      />
      <div class="chart-axis muted">
        <span>{days[0]}</span>
        <span>{days.at(-1)}</span>
      </div>
    </div>
  );
}

/** Calendar days in any time zone: computed from their names alone. */
function daysUntil(last: string): readonly string[] {
  const end = Date.parse(`${last}T00:00:00Z`);
  return Array.from({ length: shownDays }, (_day, index) => {
    const at = end - (shownDays - 1 - index) * dayMs;
    return new Date(at).toISOString().slice(0, last.length);
  });
}

function dayBar(day: string, row: SpendRowView | undefined): Bar {
  const lines =
    row === undefined
      ? ["nothing"]
      : [dollars(row.usd), counted(row.calls, "call"), doubtText(row)];
  return {
    key: day,
    class: row === undefined ? "none" : "",
    value: row?.usd ?? null,
    title: [day, ...lines].filter((line) => line !== "").join("\n"),
  };
}
