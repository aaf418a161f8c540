import { expect, test } from "vitest";
import {
  choose,
  concurrency,
  labelStep,
  layoutLanes,
  ticksOf,
} from "../../../../src/interfaces/dashboard/browser/timeline-layout.ts";
import type { HistoryEntry } from "../../../../src/foundation/contracts/history.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";

const minute = 60_000;
const noon = Date.UTC(2026, 10, 21, 12);
const hour = { from: noon - 60 * minute, to: noon };

let count = 0;
/** A run that began `from` minutes after eleven and ended `to` minutes after. */
function run(from: number, to: number | null, other: Partial<HistoryEntry> = {}): HistoryEntry {
  const at = (minutes: number): string => new Date(hour.from + minutes * minute).toISOString();
  const ended = to === null ? null : at(to);
  const outcome = to === null ? null : "succeeded";
  const times = { at: at(from), startedAt: at(from), endedAt: ended, outcome } as const;
  return historyEntry({ id: `r${++count}`, ...times, ...other });
}

function refused(from: number): HistoryEntry {
  return run(from, null, { startedAt: null, outcome: "skipped" });
}

function rowsOf(...entries: readonly HistoryEntry[]): readonly number[] {
  return layoutLanes(entries, hour).flatMap(({ bars }) => bars.map(({ row }) => row));
}

test("each agent that ran has a lane, by name, with its runs where they were in time", () => {
  const lanes = layoutLanes(
    [run(30, 45), run(0, 6, { agent: "ant" }), run(59, null, { agent: "ant" })],
    hour,
  );
  expect(lanes.map(({ agent }) => agent)).toEqual(["ant", "dev"]);
  const bars = lanes[0]?.bars.map(({ kind, from, to }) => [kind, from.toFixed(2), to.toFixed(2)]);
  expect(bars).toEqual([
    ["succeeded", "0.00", "0.10"],
    ["running", "0.98", "1.00"],
  ]);
});

test("a run that began earlier is cut at the edge; one that also ended earlier is not drawn", () => {
  const [lane] = layoutLanes([run(-30, 30), run(-30, -10)], hour);
  expect(lane?.bars.map(({ from, to }) => [from, to])).toEqual([[0, 0.5]]);
});

test("work that waits, and what no agent was for, has no lane", () => {
  const waiting = run(10, null, { startedAt: null });
  const nobody = run(10, null, { agent: null, startedAt: null, outcome: "rejected" });
  expect(layoutLanes([waiting, nobody], hour)).toEqual([]);
});

test("runs that overlap lie below one another, the next one takes the first free row", () => {
  expect(rowsOf(run(0, 20), run(10, 30), run(20, 40), run(25, 26))).toEqual([0, 1, 0, 2]);
  expect(rowsOf(run(0, 60), run(1, 60), run(2, 60), run(3, 60), run(4, 60))).toEqual([
    0, 1, 2, 2, 2,
  ]);
});

test("what never started takes no row", () => {
  expect(rowsOf(run(0, 20), refused(10), run(21, 30))).toEqual([0, 0, 0]);
  const [lane] = layoutLanes([refused(10)], hour);
  expect(lane).toMatchObject({ rows: 1, bars: [{ kind: "refused" }] });
});

test("how many ran at once is counted over all lanes", () => {
  const lanes = layoutLanes(
    [run(0, 30), run(15, 45, { agent: "ant" }), run(30, 36), refused(20)],
    hour,
  );
  expect(concurrency(lanes)).toEqual([
    { at: 0, count: 1 },
    { at: 0.25, count: 2 },
    { at: 0.5, count: 1 },
    { at: 0.5, count: 2 },
    { at: 0.6, count: 1 },
    { at: 0.75, count: 0 },
  ]);
});

test("with more lanes than room those that are shown stay, then come the latest", () => {
  const lanes = [
    ...layoutLanes(
      ["a", "b", "c", "d"].map((agent, index) => run(index * 10, index * 10 + 5, { agent })),
      hour,
    ),
  ];
  const names = (shown: string[], room: number, present = ["a", "b", "c", "d"]): string[] =>
    choose(lanes, { present: new Set(present), shown: new Set(shown), room }).map(
      ({ agent }) => agent,
    );
  expect(names([], 2)).toEqual(["c", "d"]);
  expect(names(["a"], 2)).toEqual(["a", "d"]);
  expect(names(["a", "gone"], 9)).toEqual(["a", "b", "c", "d"]);
  // A failed one is never left out.
  lanes.push(...layoutLanes([run(0, 1, { agent: "failed", outcome: "timed_out" })], hour));
  expect(names(["a"], 2)).toEqual(["a", "failed"]);
  lanes.pop();
  // Agents that the project has no more come last, whatever they ran.
  expect(names(["c", "d"], 3, ["a", "b"])).toEqual(["a", "b", "d"]);
  expect(names(["c"], 9, ["b", "d"])).toEqual(["b", "d", "a", "c"]);
});

test("a killed run has a class of its own, unless it never started", () => {
  const killed = { outcome: "killed" } as const;
  expect(layoutLanes([run(0, 6, killed)], hour)[0]?.bars[0]?.kind).toBe("killed");
  const [lane] = layoutLanes([run(0, 6, { ...killed, startedAt: null })], hour);
  expect(lane?.bars[0]?.kind).toBe("refused");
});

test("ticks are labelled as far apart as the drawing is narrow", () => {
  expect(labelStep(7, 900)).toBe(1);
  expect(labelStep(7, 170)).toBe(2);
  expect(labelStep(0, 0)).toBe(1);
});

test("ticks are round times of the reader's own clock", () => {
  const minutesOf = (from: number, offset: number): number[] =>
    ticksOf({ from, to: noon }, offset * minute).map((tick) => (noon - tick) / minute);
  expect(minutesOf(hour.from, 0)).toEqual([60, 50, 40, 30, 20, 10, 0].map((m) => m));
  expect(minutesOf(noon - 6 * 60 * minute, 0)).toEqual([360, 300, 240, 180, 120, 60, 0]);
  // Half an hour off UTC, full hours are half hours there.
  expect(minutesOf(noon - 3 * 60 * minute, -330)).toEqual([180, 150, 120, 90, 60, 30, 0]);
  expect(minutesOf(noon - 6 * 60 * minute, -330)).toEqual([330, 270, 210, 150, 90, 30]);
});
