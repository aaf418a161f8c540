import { useState } from "preact/hooks";
import type { SpendAnswer, SpendRowView } from "../../../../features/spend/spend-report.ts";
import { dollars, doubtText } from "../../../../features/spend/spend-text.ts";
import { counted } from "../../../../foundation/contracts/format.ts";
import { isDay, joined, percent } from "../../text/format.ts";

const daysHeight = 120;
const dayMs = 86_400_000;
/** How much higher than the highest bar the chart may become to show the limit. */
const mostAbove = 3;

interface DaysProps {
  readonly spending: SpendAnswer;
  /** The most expensive agents, each a part of its days' bars. */
  readonly agents: readonly string[];
  /** How many days. */
  readonly range: number;
}

/** A bar for each of the last days, today on the right. Pointer and arrow keys choose the day whose amount is shown. */
export function Days({ spending: { rows, limits }, agents, range }: DaysProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const { days, scale, limit, summary } = chartOf({ rows, limits }, agents, range);
  const choose = (index: number): void => setChosen(Math.min(Math.max(index, 0), range - 1));
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose((chosen ?? range - (step === 1 ? 1 : 0)) + step);
  };
  return (
    <div id="days">
      <p class="muted chart-note" role="status">
        {chosen === null ? summary : days[chosen]?.text}
      </p>
      <div class="day-chart">
        <div class="chart-scale muted" aria-hidden="true">
          <span>{dollars(scale)}</span>
          <span>{dollars(scale / 2)}</span>
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
          <svg class="bars" role="img" height={daysHeight} aria-label={`By day: ${summary}`}>
            {days.map((day, index) => (
              <Stack
                {...day}
                index={index}
                range={range}
                scale={scale}
                key={day.day}
                chosen={chosen}
              />
            ))}
            {limit !== null && <LimitLine y={heightOf(limit, scale)} />}
          </svg>
        </div>
        <div class="chart-axis muted">
          {[0, Math.floor((range - 1) / 2), range - 1].map((index) => (
            <span key={index}>{days[index]?.day}</span>
          ))}
        </div>
      </div>
      <Legend agents={agents} hasOthers={days.some(({ parts }) => (parts.at(-1)?.usd ?? 0) > 0)} />
    </div>
  );
}

/** The days, the height of the chart in US dollars, the project's limit of a day if it is within, and a summary. */
function chartOf(
  { rows, limits }: Pick<SpendAnswer, "rows" | "limits">,
  agents: readonly string[],
  range: number,
) {
  const { limit = null, reserved = 0 } =
    limits.find((one) => isDay(one) && one.scope === "project") ?? {};
  const last = limits.find(isDay)?.window ?? rows.at(-1)?.key ?? "";
  const byDay = new Map(rows.map((row) => [row.key, row]));
  const most = Math.max(0, ...rows.map(({ usd }) => usd));
  const isWithin = limit !== null && limit <= most * mostAbove;
  return {
    days: daysUntil(last, range).map((day) => dayOf(day, byDay.get(day), agents)),
    scale: isWithin ? Math.max(most, limit) : most,
    limit: isWithin ? limit : null,
    summary: summaryOf(rows, most, limit, reserved),
  };
}

/** A day with the parts of its cost: of each agent, and of all others. */
interface Day {
  readonly day: string;
  readonly parts: readonly { readonly name: string; readonly usd: number }[];
  readonly text: string;
}

function dayOf(day: string, row: SpendRowView | undefined, agents: readonly string[]): Day {
  if (row === undefined) return { day, parts: [], text: `${day}: nothing` };
  const own = agents.map((name) => ({ name, usd: row.agents?.[name] ?? 0 }));
  const rest = own.reduce((left, { usd }) => left - usd, row.usd);
  // Sums of fractions differ in their last digits.
  const parts = [...own, { name: "others", usd: rest < 1e-9 ? 0 : rest }];
  const shares = parts
    .filter(({ usd }) => usd > 0)
    .map(({ name, usd }) => `${name} ${dollars(usd)}`);
  const facts = [dollars(row.usd), counted(row.calls, "call"), doubtText(row)];
  return { day, parts, text: `${day}: ${joined([joined(facts, ", "), joined(shares, ", ")])}` };
}

function summaryOf(
  rows: readonly SpendRowView[],
  most: number,
  limit: number | null,
  reserved: number,
): string {
  const sum = rows.reduce((total, { usd }) => total + usd, 0);
  const parts = [
    `Total ${dollars(sum)}`,
    `peak ${dollars(most)} a day`,
    limit !== null && `limit ${dollars(limit)} a day`,
    reserved > 0 && `${dollars(reserved)} reserved`,
  ];
  return joined(parts, ", ");
}

function heightOf(usd: number, scale: number): number {
  return scale === 0 ? 0 : (usd / scale) * daysHeight;
}

interface StackProps extends Day {
  readonly index: number;
  readonly range: number;
  readonly scale: number;
  readonly chosen: number | null;
}

function Stack({ day, parts, index, range, scale, chosen }: StackProps) {
  const place = { x: percent((index + 0.1) / range), width: percent(0.8 / range) };
  let top = daysHeight;
  return (
    <g class={`day ${index === chosen ? "chosen" : ""}`} data-day={day}>
      {parts.length === 0 && <rect class="none" {...place} y={daysHeight - 1.5} height={1.5} />}
      {parts.map(({ name, usd }, part) => {
        const height = heightOf(usd, scale);
        top -= height;
        return (
          height > 0 && (
            <rect class={lookOf(name, part)} {...place} y={top} height={height} key={name} />
          )
        );
      })}
    </g>
  );
}

function LimitLine({ y }: { readonly y: number }) {
  return <line class="limit" x1="0" x2="100%" y1={daysHeight - y} y2={daysHeight - y} />;
}

function lookOf(name: string, part: number): string {
  return name === "others" ? "series-others" : `series-${part}`;
}

interface LegendProps {
  readonly agents: readonly string[];
  readonly hasOthers: boolean;
}

function Legend({ agents, hasOthers }: LegendProps) {
  const names = hasOthers ? [...agents, "others"] : agents;
  if (names.length < 2) return null;
  return (
    <ul class="legend">
      {names.map((name, part) => (
        <li key={name}>
          <svg width="10" height="10" aria-hidden="true">
            <rect class={lookOf(name, part)} width="10" height="10" />
          </svg>
          {name}
        </li>
      ))}
    </ul>
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
