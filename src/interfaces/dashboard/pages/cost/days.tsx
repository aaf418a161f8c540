import { useState } from "preact/hooks";
import type { SpendAnswer, SpendRowView } from "../../../../features/spend/spend-report.ts";
import { dollars, doubtText } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { Bars } from "../../kit/bars.tsx";
import { isDay, joined } from "../../text/format.ts";

const daysHeight = 120;
const dayMs = 86_400_000;

interface DaysProps {
  readonly spending: SpendAnswer;
  /** How many days. */
  readonly range: number;
}

/** A bar for each of the last days, today on the right. Pointer and arrow keys choose the day whose amount is shown. */
export function Days({ spending: { rows, limits }, range }: DaysProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const last = limits.find(isDay)?.window ?? rows.at(-1)?.key ?? "";
  const byDay = new Map(rows.map((row) => [row.key, row]));
  const days = daysUntil(last, range);
  const most = Math.max(0, ...rows.map(({ usd }) => usd));
  const sum = rows.reduce((total, { usd }) => total + usd, 0);
  const reserved = limits.find((one) => isDay(one) && one.scope === "project")?.reserved ?? 0;
  const held = reserved === 0 ? "" : `, ${dollars(reserved)} reserved`;
  const choose = (index: number): void => setChosen(Math.min(Math.max(index, 0), range - 1));
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose((chosen ?? range - (step === 1 ? 1 : 0)) + step);
  };
  const bars = days.map((day, index) => dayBar(day, byDay.get(day), index === chosen));
  return (
    <div id="days">
      <p class="muted chart-note" role="status">
        {chosen === null
          ? `${dollars(sum)} in all${held}, at most ${dollars(most)} a day`
          : bars[chosen]?.title}
      </p>
      <div class="day-chart">
        <div class="chart-scale muted" aria-hidden="true">
          <span>{dollars(most)}</span>
          <span>{dollars(most / 2)}</span>
          <span>$0</span>
        </div>
        <div
          class="day-bars"
          role="group"
          tabIndex={0}
          aria-label="Cost by day: the arrow keys choose a day"
          onKeyDown={onKeyDown}
          onPointerMove={({ clientX, currentTarget }) => {
            const { left, width } = currentTarget.getBoundingClientRect();
            choose(Math.floor(((clientX - left) / width) * range));
          }}
          onPointerLeave={() => setChosen(null)}
          onBlur={() => setChosen(null)}
        >
          <Bars
            bars={bars}
            height={daysHeight}
            label={`Cost of the last ${range} days: ${dollars(sum)}, at most ${dollars(most)} a day`}
          />
        </div>
        <div class="chart-axis muted">
          {[0, Math.floor((range - 1) / 2), range - 1].map((index) => (
            <span key={index}>{days[index]}</span>
          ))}
        </div>
      </div>
    </div>
  );
}

/** Calendar days in any time zone: computed from their names alone. */
function daysUntil(last: string, range: number): readonly string[] {
  const end = Date.parse(`${last}T00:00:00Z`);
  return Array.from({ length: range }, (_day, index) => {
    const at = end - (range - 1 - index) * dayMs;
    return new Date(at).toISOString().slice(0, last.length);
  });
}

function dayBar(day: string, row: SpendRowView | undefined, isChosen: boolean) {
  const facts =
    row === undefined
      ? ["nothing"]
      : [dollars(row.usd), counted(row.calls, "call"), doubtText(row)];
  return {
    key: day,
    class: joined([row === undefined && "none", isChosen && "chosen"], " "),
    value: row?.usd ?? null,
    title: `${day}: ${joined(facts, ", ")}`,
  };
}
