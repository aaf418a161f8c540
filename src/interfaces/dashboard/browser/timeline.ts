import type { AgentStatus } from "../../../../streams/status/wire.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { byId, childrenOf, createSvg, remember, remembered, setAttribute, setText } from "./dom.ts";
import { clockTime } from "./format.ts";
import { createRunFeed } from "./run-feed.ts";
import { createLane } from "./timeline-lane.ts";
import type { DrawnLane } from "./timeline-lane.ts";
import {
  choose,
  concurrency,
  countsText,
  labelStep,
  layoutLanes,
  percent,
  ticksOf,
} from "./timeline-layout.ts";
import type { Lane, Span } from "./timeline-layout.ts";
import { createViews } from "./views.ts";

/** The runs of the last hours, a lane for each agent. */
export interface Timeline {
  /** All agents, after a connect: runs that were missed meanwhile are read. */
  reset(agents: readonly AgentStatus[]): void;
  apply(agents: readonly AgentStatus[]): void;
  /** Agents that are gone; their runs are still shown, below the others. */
  remove(names: readonly string[]): void;
  /** Shows these agents alone; null for all. */
  filter(names: ReadonlySet<string> | null): void;
}

const hourMs = 3_600_000;
const redrawMs = 5_000;
/** Lanes that are drawn; the reader may ask for more, up to a number that stays readable and fast. */
const fewLanes = 12;
const manyLanes = 100;
/** The box is as high as its lanes; from here on they scroll in it. */
const highestBox = 24;
/** Room for the text when there are none. */
const lowestBox = 2;

/** Fills the page's timeline. */
export function createTimeline(): Timeline {
  let drawn: readonly Lane[] = [];
  const views = createViews<DrawnLane>(
    byId("timeline-lanes"),
    ({ lane }) => lane.agent,
    ({ lane }) => createLane(lane.agent),
  );
  const feed = createRunFeed(() => draw());
  const present = new Set<string>();
  /** Lanes to come that the box has the place for, so that nothing below moves while they are read. */
  let expected = 0;
  let hours = Number(remembered("timeline-hours") ?? 6);
  let room = fewLanes;
  let isOpen = remembered("timeline-open") === "true";
  let only: ReadonlySet<string> | null = null;

  const draw = (): void => {
    const now = Date.now();
    const span = { from: now - hours * hourMs, to: now };
    const all = layoutLanes(feed.runs.values(), span);
    const lanes = only === null ? all : all.filter(({ agent }) => only?.has(agent));
    showSummary(lanes, hours, feed.cutAt());
    drawConcurrency(lanes);
    if (!isOpen) return;
    const shown = new Set(drawn.map(({ agent }) => agent));
    drawn = choose(lanes, { present, shown, room });
    const ticks = ticksOf(span, new Date(now).getTimezoneOffset() * 60_000);
    const shares = ticks.map((tick) => shareOf(tick, span));
    views.show(drawn.map((lane) => ({ lane, ticks: shares })));
    setHeight(Math.max(drawn.length, expected));
    drawAxis(ticks, span);
    byId("timeline-empty").hidden = lanes.length > 0;
    const isAll = room > fewLanes;
    byId("timeline-more").hidden = !isAll && lanes.length <= drawn.length;
    setText(byId("timeline-more"), isAll ? "Show fewer" : moreText(lanes.length));
    setAttribute(byId("timeline-more"), "aria-expanded", String(isAll));
  };

  const choices = childrenOf(byId("timeline-hours"));
  const showChoice = (): void => {
    for (const button of choices) {
      setAttribute(button, "aria-pressed", String(Number(button.dataset.hours) === hours));
    }
  };
  /** Six hours of a scheduler that was just started would be a stripe at the edge. */
  const chooseHours = (): void => {
    const oldest = Math.min(...[...feed.runs.values()].map(({ at }) => Date.parse(at)));
    if (oldest === Infinity || oldest < Date.now() - hourMs) return;
    hours = 1;
    showChoice();
  };
  const load = async (): Promise<void> => {
    await feed.load(Date.now() - hours * hourMs);
    if (remembered("timeline-hours") === null) chooseHours();
    expected = 0;
    draw();
  };
  for (const button of choices) {
    button.addEventListener("click", () => {
      hours = Number(button.dataset.hours);
      remember("timeline-hours", String(hours));
      showChoice();
      void load();
    });
  }
  byId("timeline-more").addEventListener("click", () => {
    room = room === fewLanes ? manyLanes : fewLanes;
    draw();
  });
  const showOpen = (): void => {
    setAttribute(byId("timeline-open"), "aria-expanded", String(isOpen));
    byId("timeline-lines").hidden = !isOpen;
    byId("timeline-foot").hidden = !isOpen;
    byId("timeline-strip", SVGElement).classList.toggle("gone", isOpen);
    draw();
  };
  byId("timeline-open").addEventListener("click", () => {
    isOpen = !isOpen;
    remember("timeline-open", String(isOpen));
    showOpen();
  });
  setInterval(() => {
    if (document.visibilityState === "visible") draw();
  }, redrawMs);
  showChoice();
  showOpen();
  return {
    reset: (agents) => {
      present.clear();
      for (const { name } of agents) present.add(name);
      const from = new Date(Date.now() - hours * hourMs).toISOString();
      const recent = agents.filter(({ lastRunAt }) => lastRunAt !== null && lastRunAt >= from);
      expected = Math.min(recent.length, room);
      setHeight(expected);
      void load();
      feed.apply(agents.filter(({ running }) => running > 0));
    },
    apply: (agents) => {
      for (const { name } of agents) present.add(name);
      feed.apply(agents);
    },
    remove: (names) => {
      for (const name of names) present.delete(name);
      draw();
    },
    filter: (names) => {
      if (isSame(only, names)) return;
      only = names;
      draw();
    },
  };
}

function isSame(a: ReadonlySet<string> | null, b: ReadonlySet<string> | null): boolean {
  if (a === null || b === null) return a === b;
  return a.size === b.size && [...a].every((name) => b.has(name));
}

function setHeight(lanes: number): void {
  const height = Math.min(Math.max(lanes, lowestBox), highestBox);
  byId("timeline-lanes").style.setProperty("--lanes", String(height));
}

function moreText(count: number): string {
  return count <= manyLanes ? `Show all ${count} agents` : `Show ${manyLanes} of ${count} agents`;
}

function shareOf(time: number, { from, to }: Span): number {
  return (time - from) / (to - from);
}

function drawAxis(ticks: readonly number[], span: Span): void {
  const axis = byId("timeline-axis", SVGElement);
  const step = labelStep(ticks.length, axis.clientWidth);
  const labelled = ticks.toReversed().filter((_, index) => index % step === 0);
  const labels = labelled.map((tick) =>
    createSvg("text", { x: percent(shareOf(tick, span)), y: "12" }, clockTime(tick).slice(0, 5)),
  );
  axis.replaceChildren(...labels);
}

/** How much ran at once, over all agents: also of those that have no lane. */
function drawConcurrency(lanes: readonly Lane[]): void {
  const steps = concurrency(lanes);
  const most = Math.max(1, ...steps.map(({ count }) => count));
  const height = (count: number): string => (24 - (count / most) * 22).toFixed(1);
  const path = steps.map(({ at, count }) => `H${(at * 1000).toFixed(1)}V${height(count)}`).join("");
  for (const id of ["timeline-busy-path", "timeline-strip-path"]) {
    setAttribute(byId(id, SVGElement), "d", `M0 24${path}H1000V24Z`);
  }
  const failed = lanes.flatMap(({ bars }) => bars.filter(({ kind }) => kind === "failed"));
  const marks = failed.map(({ to }) => `M${(to * 1000).toFixed(1)} 0V24`).join("");
  setAttribute(byId("timeline-strip-failed", SVGElement), "d", marks === "" ? "M0 0" : marks);
  setText(byId("timeline-most"), steps.length === 0 ? "" : `max ${most} at once`);
}

function showSummary(lanes: readonly Lane[], hours: number, cutAt: number | null): void {
  const bars = lanes.flatMap((lane) => lane.bars);
  const runs = bars.filter(({ kind }) => kind !== "refused").length;
  const text = [
    lanes.length === 0
      ? `no run in ${counted(hours, "hour")}`
      : `${counted(runs, "run")} of ${counted(lanes.length, "agent")} in ${counted(hours, "hour")}`,
    ...countsText(bars, false),
    ...(cutAt === null ? [] : [`only the newest, since ${clockTime(cutAt).slice(0, 5)}`]),
  ].join(" · ");
  setText(byId("timeline-summary"), text);
}
