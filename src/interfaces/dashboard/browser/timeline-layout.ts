import type { HistoryEntry } from "../../../foundation/contracts/history.ts";

/** The colour and shape of a bar. */
export type BarKind = "succeeded" | "failed" | "killed" | "interrupted" | "running" | "refused";

/** One run within its lane. `from` and `to` are shares of the width, `row` counts overlapping runs from 0. */
export interface Bar {
  readonly entry: HistoryEntry;
  readonly kind: BarKind;
  readonly from: number;
  readonly to: number;
  readonly row: number;
}

/** One agent's runs; `rows` is how many of them overlap, `maxRows` at most. */
export interface Lane {
  readonly agent: string;
  readonly rows: number;
  readonly bars: readonly Bar[];
}

/** The part of time that is drawn, epoch ms. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Runs deeper than this are drawn over one another. */
const maxRows = 3;
const minuteMs = 60_000;
const tickSteps = [5, 10, 15, 30, 60, 120, 180, 240, 360].map((minutes) => minutes * minuteMs);
const maxTicks = 7;
/** The width of a time such as 20:00 with the space beside it, in px. */
const labelWidth = 44;

/** How a history entry is drawn; null for one that waits, which has no place in time yet. */
export function barKind({ outcome, startedAt }: HistoryEntry): BarKind | null {
  if (outcome === null) return startedAt === null ? null : "running";
  if (outcome === "succeeded") return "succeeded";
  if (startedAt === null) return "refused";
  // A person ended it, or stopped the scheduler: that is no failure.
  return outcome === "killed" || outcome === "interrupted" ? outcome : "failed";
}

/** The agents' lanes, by name. Entries that no agent's are, or that don't reach into the span, are left out. */
export function layoutLanes(entries: Iterable<HistoryEntry>, span: Span): readonly Lane[] {
  const bars = [...entries].flatMap((entry) => place(entry, span) ?? []);
  const byAgent = Map.groupBy(bars, ({ entry }) => entry.agent);
  return [...byAgent]
    .flatMap(([agent, own]) => (agent === null ? [] : [{ agent, ...stack(own) }]))
    .sort((a, b) => (a.agent < b.agent ? -1 : 1));
}

function place(entry: HistoryEntry, span: Span): Omit<Bar, "row"> | null {
  const kind = barKind(entry);
  if (kind === null) return null;
  const start = Date.parse(entry.startedAt ?? entry.at);
  const end =
    kind === "running" ? span.to : entry.endedAt === null ? start : Date.parse(entry.endedAt);
  if (end < span.from) return null;
  const share = (time: number): number =>
    Math.min(Math.max((time - span.from) / (span.to - span.from), 0), 1);
  return { entry, kind, from: share(start), to: share(Math.max(start, end)) };
}

/** Gives each bar the first row that is free where it begins. */
function stack(bars: readonly Omit<Bar, "row">[]): Omit<Lane, "agent"> {
  const rowEnds: number[] = [];
  const stacked = [...bars]
    .sort((a, b) => a.from - b.from)
    .map((bar): Bar => {
      // A trigger that never started a run takes no time, so it needs no row.
      if (bar.kind === "refused") return { ...bar, row: 0 };
      const free = rowEnds.findIndex((end) => end <= bar.from);
      const row = free >= 0 ? free : Math.min(rowEnds.length, maxRows - 1);
      rowEnds[row] = Math.max(rowEnds[row] ?? 0, bar.to);
      return { ...bar, row };
    });
  return { bars: stacked, rows: Math.max(rowEnds.length, 1) };
}

/** Full hours and the like within a span, epoch ms. `offsetMs` is what local time is behind UTC. */
export function ticksOf({ from, to }: Span, offsetMs: number): readonly number[] {
  const step = tickSteps.find((each) => (to - from) / each <= maxTicks) ?? 6 * 60 * minuteMs;
  const first = Math.ceil((from - offsetMs) / step) * step + offsetMs;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  return Array.from({ length: count }, (_, index) => first + index * step);
}

/** How many runs there were at once, as steps: from `at` (a share of the width) on there were `count`. */
export function concurrency(
  lanes: readonly Lane[],
): readonly { readonly at: number; readonly count: number }[] {
  const changes = lanes
    .flatMap(({ bars }) => bars)
    .filter(({ kind }) => kind !== "refused")
    .flatMap(({ from, to }) => [
      { at: from, change: 1 },
      { at: to, change: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.change - b.change);
  let count = 0;
  return changes.map(({ at, change }) => ({ at, count: (count += change) }));
}

/** What the choice of lanes goes by. */
export interface Choice {
  /** The agents that the project has now. */
  readonly present: ReadonlySet<string>;
  /** Runs that already have a lane. */
  readonly shown: ReadonlySet<string>;
  /** How many lanes there is room for. */
  readonly room: number;
}

/**
 * Which lanes are drawn: each in which a run failed, then the project's agents, of them those that were, then the latest.
 * Gone ones stand last.
 */
export function choose(lanes: readonly Lane[], { present, shown, room }: Choice): readonly Lane[] {
  const failed = lanes.filter(({ bars }) => bars.some(({ kind }) => kind === "failed"));
  const latest = (lane: Lane): number => Math.max(...lane.bars.map(({ to }) => to));
  const by = (names: ReadonlySet<string>) => (a: Lane, b: Lane) =>
    Number(names.has(b.agent)) - Number(names.has(a.agent));
  const [byPresent, byShown] = [by(present), by(shown)];
  const rank = [...lanes].sort((a, b) => byPresent(a, b) || byShown(a, b) || latest(b) - latest(a));
  const chosen = new Set(failed.map(({ agent }) => agent));
  for (const { agent } of rank) if (chosen.size < room) chosen.add(agent);
  return lanes.filter(({ agent }) => chosen.has(agent)).sort(byPresent);
}

/** Every how many ticks have a label, so that labels keep their distance in a drawing of `width` px. */
export function labelStep(ticks: number, width: number): number {
  return Math.max(1, Math.ceil((ticks * labelWidth) / Math.max(width, labelWidth)));
}

/** A share of a drawing's width or height, which scales with it: `percent(0.5)` is `50%`. */
export function percent(share: number): string {
  return `${(share * 100).toFixed(3)}%`;
}

const countWords: readonly (readonly [BarKind, string])[] = [
  ["failed", "failed"],
  ["killed", "killed"],
  ["interrupted", "interrupted"],
  ["running", "running now"],
  ["refused", "did not start"],
];

/** How many bars are of each kind that is worth naming: `2 failed`. */
export function countsText(bars: readonly Bar[], withRunning: boolean): readonly string[] {
  return countWords.flatMap(([kind, words]) => {
    const count = bars.filter((bar) => bar.kind === kind).length;
    return count === 0 || (kind === "running" && !withRunning) ? [] : [`${count} ${words}`];
  });
}
