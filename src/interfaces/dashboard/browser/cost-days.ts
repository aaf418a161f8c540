import { counted } from "../../../foundation/contracts/format.ts";
import type { SpendAnswer, SpendRowView } from "../../../foundation/contracts/spend-report.ts";
import { dollars, doubtText } from "../../../foundation/contracts/spend-text.ts";
import { isDay } from "./cost-figures.ts";
import { create, createSvg } from "./dom.ts";
import { percent } from "./timeline-layout.ts";

const shownDays = 30;
const chartHeight = 120;
/** A day without cost keeps its place. */
const leastHeight = 1.5;
const dayMs = 86_400_000;

/** Draws a bar for each of the last days, today on the right. */
export function showDays(place: HTMLElement, { rows, limits }: SpendAnswer): void {
  const last = limits.find(isDay)?.window ?? rows.at(-1)?.key;
  if (last === undefined) return place.replaceChildren();
  const byDay = new Map(rows.map((row) => [row.key, row]));
  const days = daysUntil(last);
  const most = Math.max(0, ...rows.map(({ usd }) => usd));
  const sum = rows.reduce((total, { usd }) => total + usd, 0);
  const bars = days.map((day, index) => bar(day, byDay.get(day), index, most));
  const reserved = limits.find((one) => isDay(one) && one.scope === "project")?.reserved ?? 0;
  const held = reserved === 0 ? "" : ` with ${dollars(reserved)} reserved`;
  const label = `Cost of the last ${shownDays} days: ${dollars(sum)}, at most ${dollars(most)} a day`;
  const drawing = { role: "img", "aria-label": label, height: chartHeight };
  place.replaceChildren(
    create(
      "p",
      "muted chart-note",
      `${dollars(sum)} in all${held}, at most ${dollars(most)} a day`,
    ),
    createSvg("svg", drawing, ...bars),
    axis(days),
  );
}

/** Days of the calendar, whatever the time zone: they come and go by name alone. */
function daysUntil(last: string): readonly string[] {
  const end = Date.parse(`${last}T00:00:00Z`);
  return Array.from({ length: shownDays }, (_day, index) => {
    const at = end - (shownDays - 1 - index) * dayMs;
    return new Date(at).toISOString().slice(0, last.length);
  });
}

function bar(day: string, row: SpendRowView | undefined, index: number, most: number): SVGElement {
  const share = row === undefined || most === 0 ? 0 : row.usd / most;
  const height = Math.max(share * chartHeight, leastHeight);
  const isEmpty = row === undefined;
  const lines = isEmpty ? [] : [dollars(row.usd), counted(row.calls, "call"), doubtText(row)];
  const title = [day, ...(isEmpty ? ["nothing"] : lines)].filter((line) => line !== "");
  return createSvg(
    "rect",
    {
      class: isEmpty ? "day-bar none" : "day-bar",
      x: percent((index + 0.1) / shownDays),
      width: percent(0.8 / shownDays),
      y: chartHeight - height,
      height,
    },
    createSvg("title", {}, title.join("\n")),
  );
}

function axis(days: readonly string[]): HTMLElement {
  const ends = [days[0] ?? "", days.at(-1) ?? ""];
  return create("div", "chart-axis muted", ...ends.map((day) => create("span", "", day)));
}
