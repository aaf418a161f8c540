import { durationText } from "../../../../../streams/duration-text.ts";
import { isError, outcomeText } from "../../../../../streams/outcomes.ts";
import { dollars } from "../../../../features/spend/spend-text.ts";
import type { HistoryEntry } from "../../../../foundation/contracts/history.ts";
import { memo } from "../../kit/memo.ts";
import { lookOf } from "../../runs/trigger-words.ts";
import { runAddress } from "../../text/addresses.ts";
import { joined, listTime, percent } from "../../text/format.ts";

const chartHeight = 64;
const costHeight = 24;
/** Height of the shortest run, and width of each. */
const [leastHeight, barWidth] = [4, 6];

interface TimelineProps {
  readonly newestFirst: readonly HistoryEntry[];
}

/** An ended run, with its place on the timeline: 0 for the first, 1 for the last. */
interface PlacedRun {
  readonly run: HistoryEntry;
  readonly place: number;
}

/** The ended runs over time, as high as they were long, and a line of their cost; hidden before a run has ended. */
export const Timeline = memo(({ newestFirst }: TimelineProps) => {
  const ended = newestFirst.filter(({ outcome, startedAt }) => outcome && startedAt);
  const runs = placed(ended.toReversed());
  const [first, last] = [runs[0]?.run, runs.at(-1)?.run];
  return (
    <figure class="timeline" id="charts" hidden={runs.length === 0}>
      {first !== undefined && last !== undefined && (
        <>
          <Durations runs={runs} />
          <Costs runs={runs} />
          <div class="span muted" aria-hidden="true">
            <span>{runs.length > 1 && listTime(timeOf(first))}</span>
            <span>{listTime(timeOf(last))}</span>
          </div>
        </>
      )}
    </figure>
  );
});

function timeOf({ startedAt, at }: HistoryEntry): string {
  return startedAt ?? at;
}

function placed(runs: readonly HistoryEntry[]): readonly PlacedRun[] {
  const times = runs.map((run) => Date.parse(timeOf(run)));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  return runs.map((run, index) => ({
    run,
    place: to === from ? 1 : ((times[index] ?? to) - from) / (to - from),
  }));
}

/** A bar for each run. Screen readers read the caption, and the table below has the same links. */
function Durations({ runs }: { readonly runs: readonly PlacedRun[] }) {
  const durations = runs.flatMap(({ run: { durationMs } }) => durationMs ?? []);
  const most = Math.max(0, ...durations);
  const failed = runs.filter(({ run }) => run.outcome !== null && isError(run.outcome));
  return (
    <>
      <figcaption class="muted">
        Last {runs.length} runs: {failed.length} failed, median {durationText(median(durations))},
        longest {durationText(most)}
      </figcaption>
      <svg class="runs" height={chartHeight} aria-hidden="true">
        {runs.map(({ run, place }) => (
          <RunBar run={run} place={place} most={most} key={run.id} />
        ))}
      </svg>
    </>
  );
}

function RunBar({ run, place, most }: PlacedRun & { readonly most: number }) {
  const share = most === 0 ? 0 : (run.durationMs ?? 0) / most;
  const height = Math.max(share * chartHeight, leastHeight);
  const bar = (
    <rect
      class={lookOf(run)}
      x={percent(place)}
      width={barWidth}
      y={chartHeight - height}
      height={height}
      transform={`translate(${-barWidth * place} 0)`}
    >
      <title>{textOf(run)}</title>
    </rect>
  );
  if (run.agent === null || run.instanceId === null) return bar;
  return (
    <a href={runAddress(run.agent, run.instanceId)} tabIndex={-1}>
      {bar}
    </a>
  );
}

function textOf(run: HistoryEntry): string {
  const { durationMs, costUsd, outcome } = run;
  return joined([
    listTime(timeOf(run)),
    outcomeText(outcome ?? ""),
    durationMs !== null && durationText(durationMs),
    costUsd !== null && dollars(costUsd),
  ]);
}

/** The cost of runs as a line; nothing if none has a cost. */
function Costs({ runs }: { readonly runs: readonly PlacedRun[] }) {
  const costs = runs.flatMap(({ run: { costUsd }, place }) =>
    costUsd === null ? [] : [{ usd: costUsd, place }],
  );
  const most = Math.max(0, ...costs.map(({ usd }) => usd));
  if (most === 0) return null;
  const points = costs.map(({ usd, place }) => `${place * 1000},${(1 - usd / most) * 100}`);
  const total = costs.reduce((sum, { usd }) => sum + usd, 0);
  return (
    <>
      <p class="muted">
        Cost: total {dollars(total)}, highest {dollars(most)}
      </p>
      <svg
        class="costs"
        height={costHeight}
        viewBox="0 -5 1000 110"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <polyline points={points.join(" ")} vector-effect="non-scaling-stroke" />
      </svg>
    </>
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
