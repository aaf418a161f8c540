import { durationText } from "../../../../../streams/duration-text.ts";
import { dollars } from "../../../../features/spend/spend-text.ts";
import { outcomeText } from "../../../../../streams/outcomes.ts";
import { lookOf } from "../../runs/trigger-words.ts";
import type { HistoryEntry } from "../../../../foundation/contracts/history.ts";
import { Bars, type Bar } from "../../kit/bars.tsx";
import { memo } from "../../kit/memo.ts";
import { compactCount, dayTime, exactTime } from "../../text/format.ts";

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
      <Axis name="span" ends={ends.map((run) => dayTime(run?.startedAt ?? run?.at ?? ""))} />
    </figure>
  );
}

function runBar(run: HistoryEntry, value: number | null, text: Measure["text"]): Bar {
  const words = [
    exactTime(run.startedAt ?? run.at),
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
