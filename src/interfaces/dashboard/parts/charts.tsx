import { lookOf } from "../text/trigger-words.ts";
import { outcomeText } from "../../../../streams/outcomes.ts";
import { useState } from "preact/hooks";
import { percent, compactCount, dayTime, exactTime, isDay } from "../text/format.ts";
import { durationText } from "../../../../streams/duration-text.ts";
import { dollars, doubtText } from "../../../features/spend/spend-text.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { memo } from "./memo.ts";
import type { SpendAnswer, SpendRowView } from "../../../features/spend/spend-report.ts";

/** A bar of a drawing. */
interface Bar {
  readonly key: string;
  readonly class: string;
  /** Null is drawn like zero. */
  readonly value: number | null;
  /** Shown at the pointer. */
  readonly title: string;
}

interface BarsProps {
  readonly bars: readonly Bar[];
  /** The width of a bar as a share of its place, if there are at least `places` bars; fewer leave room on the right. */
  readonly places?: number;
  readonly height: number;
  readonly label: string;
}

/** Height of a zero, so that each bar is visible. */
const leastHeight = 1.5;

/** A drawing of values as bars, each as high as its share of the largest. */
function Bars({ bars, places = 1, height, label }: BarsProps) {
  const most = Math.max(0, ...bars.map(({ value }) => value ?? 0));
  return (
    <svg class="bars" role="img" height={height} aria-label={label}>
      {bars.map(({ key, value, title, ...bar }, index) => {
        const share = most === 0 ? 0 : (value ?? 0) / most;
        const high = Math.max(share * height, leastHeight);
        return (
          <rect
            key={key}
            class={bar.class}
            x={percent((index + 0.1) / bars.length)}
            width={percent(0.8 / Math.max(bars.length, places))}
            y={height - high}
            height={high}
          >
            <title>{title}</title>
          </rect>
        );
      })}
    </svg>
  );
}

interface Measure {
  readonly name: string;
  readonly of: (entry: HistoryEntry) => number | null;
  readonly text: (value: number) => string;
}

const measures: readonly Measure[] = [
  { name: "Duration", of: ({ durationMs }) => durationMs, text: durationText },
  { name: "Tokens", of: ({ tokens }) => tokens, text: compactCount },
  { name: "Cost", of: ({ costUsd }) => costUsd, text: dollars },
];

const chartHeight = 44;

interface RunChartsProps {
  readonly newestFirst: readonly HistoryEntry[];
}

/** A small chart of each measure of runs, with the newest run on the right; hidden before a run has ended. */
export const RunCharts = memo(({ newestFirst }: RunChartsProps) => {
  const runs = newestFirst.filter(({ outcome, startedAt }) => outcome && startedAt).toReversed();
  return (
    <div class="charts" id="charts" hidden={runs.length === 0}>
      {runs.length > 0 &&
        measures.map((measure) => <Chart measure={measure} runs={runs} key={measure.name} />)}
    </div>
  );
});

interface ChartProps {
  readonly measure: Measure;
  readonly runs: readonly HistoryEntry[];
}

function Chart({ measure, runs }: ChartProps) {
  const { name, of, text } = measure;
  const values = runs.map(of).filter((value) => value !== null);
  const most = Math.max(0, ...values);
  const last = values.at(-1);
  const range = values.length < 2 ? "" : `median ${text(median(values))} · most ${text(most)}`;
  const known = last === undefined ? "none known" : `last ${text(last)}, ${range}`;
  const ends = runs.length > 1 ? [runs[0], runs.at(-1)] : runs;
  return (
    <figure class="chart">
      <figcaption>
        <span class="muted">{name}</span>
        <strong>{last === undefined ? "–" : text(last)}</strong>
        <span class="muted range">{range}</span>
      </figcaption>
      <div class="plot">
        <Bars
          bars={runs.map((run) => runBar(run, of(run), text))}
          places={8}
          height={chartHeight}
          label={`${name} of the last runs: ${known}`}
        />
        {most > 0 && <Axis name="scale" ends={[text(most), "0"]} />}
      </div>
      <Axis
        name="span"
        ends={ends.map((run) => dayTime(Date.parse(run?.startedAt ?? run?.at ?? "")))}
      />
    </figure>
  );
}

function runBar(run: HistoryEntry, value: number | null, text: Measure["text"]): Bar {
  const words = [
    exactTime(Date.parse(run.startedAt ?? run.at)),
    outcomeText(run.outcome ?? ""),
    value === null ? "not known" : text(value),
  ];
  return { key: run.id, class: lookOf(run), value, title: words.join("\n") };
}

/** The ends of an axis. Screen readers read the drawing's name and the table below it. */
function Axis({ name, ends }: { readonly name: string; readonly ends: readonly string[] }) {
  return (
    <div class={`${name} muted`} aria-hidden="true">
      {ends.map((end, index) => (
        <span key={index}>{end}</span>
      ))}
    </div>
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

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
    class: [row === undefined && "none", isChosen && "chosen"].filter(Boolean).join(" "),
    value: row?.usd ?? null,
    title: `${day}: ${facts.filter((fact) => fact !== "").join(", ")}`,
  };
}
