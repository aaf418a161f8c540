import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { counted, durationText, outcomeText } from "../../../foundation/contracts/format.ts";
import { agentAddress, runAddress } from "./addresses.ts";
import { create, createLink, createSvg, setAttribute, setAttributes, setText } from "./dom.ts";
import type { Attributes } from "./dom.ts";
import { exactTime } from "./format.ts";
import { countsText, percent } from "./timeline-layout.ts";
import type { Bar, Lane } from "./timeline-layout.ts";
import { createViews } from "./views.ts";
import type { View } from "./views.ts";

/** One agent's lane with its time axis; `ticks` are shares of the width. */
export interface DrawnLane {
  readonly lane: Lane;
  readonly ticks: readonly number[];
}

interface DrawnBar extends Bar {
  readonly rows: number;
}

const laneHeight = 26;
const margin = 4;
const gap = 1;
const leastWidth = 0.001;

/** Makes the lane of an agent. */
export function createLane(agent: string): View<DrawnLane> {
  const label = createLink(agentAddress(agent), "lane-label", agent);
  label.title = agent;
  const grid = createSvg("g", { class: "grid" });
  const bars = createSvg("g");
  const drawing = createSvg(
    "svg",
    { class: "lane", role: "group", height: laneHeight },
    grid,
    bars,
  );
  const element = create("li", "lane-row", label, drawing);
  const views = createViews<DrawnBar>(bars, ({ entry }) => entry.id, createBar);
  return {
    elements: () => [element],
    show: ({ lane, ticks }) => {
      setAttribute(drawing, "aria-label", laneText(lane));
      const lines = ticks.map(percent).map((x) => ({ x1: x, x2: x, y1: 0, y2: laneHeight }));
      grid.replaceChildren(...lines.map((line) => createSvg("line", line)));
      // A mark of what did not start is drawn over the bars, so that none hides it.
      const bars = [...lane.bars].sort((a, b) => Number(isMark(a)) - Number(isMark(b)));
      views.show(bars.map((bar) => ({ ...bar, rows: lane.rows })));
    },
  };
}

function isMark({ kind }: Bar): boolean {
  return kind === "refused";
}

/** A bar leads to its run by pointer; by keyboard the agent's page does, where runs are a table. */
function createBar({ entry: { agent, instanceId } }: DrawnBar): View<DrawnBar> {
  const title = createSvg("title");
  const shape = createSvg("rect", { rx: 2 }, title);
  const element =
    instanceId === null || agent === null
      ? shape
      : createSvg("a", { href: runAddress(agent, instanceId), tabindex: -1 }, shape);
  return {
    elements: () => [element],
    show: (bar) => {
      setAttributes(shape, shapeOf(bar));
      setText(title, barText(bar.entry));
    },
  };
}

/** Failed runs are taller than others, and what never started is a thin mark: not by colour alone. */
function shapeOf({ kind, from, to, row, rows }: DrawnBar): Attributes {
  const room = (laneHeight - 2 * margin - (rows - 1) * gap) / rows;
  // Nothing reaches into the neighbour's lane: others are lower than the room that a failed one takes.
  const extra = kind === "failed" ? 0 : kind === "refused" ? 2 : -room / 6;
  return {
    class: `bar ${kind}`,
    x: percent(from),
    // A rectangle without width is not drawn at all.
    width: percent(Math.max(to - from, leastWidth)),
    y: margin + row * (room + gap) - extra,
    height: kind === "refused" ? laneHeight - 2 * margin + 2 * extra : room + 2 * extra,
  };
}

function barText(entry: HistoryEntry): string {
  const { agent, outcome, startedAt, durationMs, reason } = entry;
  const how = outcome === null ? "running" : outcomeText(outcome);
  return [
    `${agent ?? ""}: ${how}`,
    exactTime(Date.parse(startedAt ?? entry.at)),
    ...(durationMs === null ? [] : [durationText(durationMs)]),
    ...(reason === null ? [] : [plainText(reason)]),
  ].join("\n");
}

function laneText({ agent, bars }: Lane): string {
  const started = bars.filter(({ kind }) => kind !== "refused").length;
  return `${agent}: ${[counted(started, "run"), ...countsText(bars, true)].join(", ")}`;
}
