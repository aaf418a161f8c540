import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { durationText, outcomeText } from "../../../foundation/contracts/format.ts";
import { create, createSvg } from "./dom.ts";
import { compactCount, costText, dayTime, exactTime } from "./format.ts";
import { barKind, percent } from "./timeline-layout.ts";

interface Measure {
  readonly name: string;
  readonly of: (entry: HistoryEntry) => number | null;
  readonly text: (value: number) => string;
}

const measures: readonly Measure[] = [
  { name: "Duration", of: ({ durationMs }) => durationMs, text: durationText },
  { name: "Tokens", of: ({ tokens }) => tokens, text: compactCount },
  { name: "Cost", of: ({ costUsd }) => costUsd, text: costText },
];

const chartHeight = 44;
/** Even nothing is drawn, so that each run has its place. */
const leastHeight = 1.5;

/** A small chart for each thing that is measured of runs, none before one ended; the newest run is on the right. */
export function runCharts(newestFirst: readonly HistoryEntry[]): readonly HTMLElement[] {
  const runs = newestFirst.filter(({ outcome, startedAt }) => outcome && startedAt).toReversed();
  return runs.length === 0 ? [] : measures.map((measure) => chart(measure, runs));
}

function chart({ name, of, text }: Measure, runs: readonly HistoryEntry[]): HTMLElement {
  const values = runs.map(of).filter((value) => value !== null);
  const most = Math.max(0, ...values);
  const last = values.at(-1);
  const range = values.length < 2 ? "" : `median ${text(median(values))} · most ${text(most)}`;
  const caption = create(
    "figcaption",
    "",
    create("span", "muted", name),
    create("strong", "", last === undefined ? "–" : text(last)),
    create("span", "muted range", range),
  );
  const label = `${name} of the last runs: ${last === undefined ? "none known" : `last ${text(last)}, ${range}`}`;
  const bars = runs.map((run, index) => {
    const value = of(run);
    const share = value === null || most === 0 ? 0 : value / most;
    const height = Math.max(share * chartHeight, leastHeight);
    const title = `${exactTime(Date.parse(run.startedAt ?? run.at))}\n${outcomeText(run.outcome ?? "")}\n${value === null ? "not known" : text(value)}`;
    return createSvg(
      "rect",
      {
        class: `column-bar ${barKind(run) ?? ""}`,
        x: percent(index / runs.length),
        width: percent(0.8 / Math.max(runs.length, 8)),
        y: chartHeight - height,
        height,
      },
      createSvg("title", {}, title),
    );
  });
  const drawing = { role: "img", "aria-label": label, height: chartHeight };
  const plot = create("div", "plot", createSvg("svg", drawing, ...bars));
  if (most > 0) plot.append(axis("scale", [text(most), "0"]));
  return create("figure", "chart", caption, plot, axis("span", timesOf(runs)));
}

/** What the ends of an axis stand for; the drawing's own name and the table below say it to a reader of the screen. */
function axis(name: string, ends: readonly string[]): HTMLElement {
  const element = create("div", `${name} muted`, ...ends.map((end) => create("span", "", end)));
  element.setAttribute("aria-hidden", "true");
  return element;
}

function timesOf(runs: readonly HistoryEntry[]): readonly string[] {
  const [first, last] = [runs[0], runs.length > 1 ? runs.at(-1) : undefined];
  return [first, last].flatMap((run) =>
    run === undefined ? [] : [dayTime(Date.parse(run.startedAt ?? run.at))],
  );
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
