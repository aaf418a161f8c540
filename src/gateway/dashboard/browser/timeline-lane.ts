import type { HistoryEntry } from "../../../contracts/history.ts";
import { plainText } from "../../../contracts/plain-text.ts";
import { counted, durationText, outcomeText } from "../../../contracts/format.ts";
import { create, setAttribute, setText } from "./dom.ts";
import { exactTime } from "./format.ts";
import { createSvg, percent, setAttributes } from "./svg.ts";
import type { Bar, Lane } from "./timeline-layout.ts";

/** One agent's lane in the timeline. Its bars are kept, so that what the pointer rests on stays. */
export interface LaneRow {
  readonly element: HTMLElement;
  /** `ticks` are shares of the width. */
  show(lane: Lane, ticks: readonly number[]): void;
}

const laneHeight = 26;
const margin = 4;
const gap = 1;
const leastWidth = 0.001;

interface DrawnBar {
  readonly element: SVGElement;
  readonly shape: SVGElement;
  readonly title: SVGElement;
}

/** Makes an empty lane. */
export function createLane(agent: string): LaneRow {
  const label = create("a", "lane-label", agent);
  label.href = `/dashboard/agents/${encodeURIComponent(agent)}`;
  label.title = agent;
  const grid = createSvg("g", { class: "grid" });
  const bars = createSvg("g");
  const drawing = createSvg("svg", { class: "lane", role: "img", height: laneHeight }, grid, bars);
  const element = create("li", "lane-row");
  element.append(label, drawing);
  const drawn = new Map<string, DrawnBar>();

  return {
    element,
    show(lane, ticks) {
      setAttribute(drawing, "aria-label", laneText(lane));
      grid.replaceChildren(
        ...ticks.map((tick) => {
          const x = percent(tick);
          return createSvg("line", { x1: x, x2: x, y1: 0, y2: laneHeight });
        }),
      );
      const ids = new Set(lane.bars.map(({ entry }) => entry.id));
      for (const [id, bar] of drawn) {
        if (ids.has(id)) continue;
        bar.element.remove();
        drawn.delete(id);
      }
      for (const bar of lane.bars) {
        const known = drawn.get(bar.entry.id);
        const shown = known ?? createBar(bar.entry);
        if (known === undefined) {
          drawn.set(bar.entry.id, shown);
          bars.append(shown.element);
        }
        showBar(shown, bar, lane.rows);
      }
    },
  };
}

/** A bar leads to its run's log by pointer; by keyboard the agent's page does, where runs are a table. */
function createBar({ agent, instanceId }: HistoryEntry): DrawnBar {
  const title = createSvg("title");
  const shape = createSvg("rect", { rx: 2 }, title);
  if (instanceId === null || agent === null) return { element: shape, shape, title };
  const query = new URLSearchParams({ instance: instanceId });
  const href = `/dashboard/agents/${encodeURIComponent(agent)}/logs?${query.toString()}`;
  return { element: createSvg("a", { href, tabindex: -1 }, shape), shape, title };
}

/** Failed runs are taller than others, and what never started is a thin mark: not by colour alone. */
function showBar(
  { shape, title }: DrawnBar,
  { entry, kind, from, to, row }: Bar,
  rows: number,
): void {
  const room = (laneHeight - 2 * margin - (rows - 1) * gap) / rows;
  const y = margin + row * (room + gap);
  const extra = kind === "failed" ? 3 : kind === "refused" ? 2 : 0;
  setAttributes(shape, {
    class: `bar ${kind}`,
    x: percent(from),
    // A rectangle without width is not drawn at all.
    width: percent(Math.max(to - from, leastWidth)),
    y: y - extra,
    height: kind === "refused" ? laneHeight - 2 * margin + 2 * extra : room + 2 * extra,
  });
  setText(title, barText(entry));
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
  const count = (kind: Bar["kind"]): number => bars.filter((bar) => bar.kind === kind).length;
  const parts = [
    counted(bars.length - count("refused"), "run"),
    ...(count("failed") > 0 ? [`${count("failed")} failed`] : []),
    ...(count("killed") > 0 ? [`${count("killed")} killed`] : []),
    ...(count("interrupted") > 0 ? [`${count("interrupted")} interrupted`] : []),
    ...(count("running") > 0 ? [`${count("running")} running now`] : []),
    ...(count("refused") > 0 ? [`${count("refused")} did not start`] : []),
  ];
  return `${agent}: ${parts.join(", ")}`;
}
