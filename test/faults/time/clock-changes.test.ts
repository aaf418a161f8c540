import { expect, test } from "vitest";
import { nextTick } from "../../../streams/triggers/next-tick.ts";
import { isLong } from "../../helpers/long.ts";

/** Whether a wall time is due, worked out without any parser. */
interface Plan {
  readonly expression: string;
  readonly isDue: (minute: number, hour: number) => boolean;
  /** Such a schedule is due both times when the clock shows an hour twice. */
  readonly everyHour: boolean;
}

const plans: readonly Plan[] = [
  { expression: "30 2 * * *", isDue: (m, h) => m === 30 && h === 2, everyHour: false },
  { expression: "15 1 * * *", isDue: (m, h) => m === 15 && h === 1, everyHour: false },
  { expression: "0 0 * * *", isDue: (m, h) => m === 0 && h === 0, everyHour: false },
  { expression: "45 23 * * *", isDue: (m, h) => m === 45 && h === 23, everyHour: false },
  {
    expression: "*/15 1-3 * * *",
    isDue: (m, h) => m % 15 === 0 && h >= 1 && h <= 3,
    everyHour: false,
  },
  { expression: "20 */2 * * *", isDue: (m, h) => m === 20 && h % 2 === 0, everyHour: false },
  { expression: "0 * * * *", isDue: (m) => m === 0, everyHour: true },
  { expression: "*/20 * * * *", isDue: (m) => m % 20 === 0, everyHour: true },
];

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const yearStart = Date.UTC(2026, 0, 1);
const yearEnd = Date.UTC(2027, 0, 1);
/** Ends inside of no plan's minute, so that no tick is at the edge. */
const aroundMs = 26 * hourMs + 7 * minuteMs;

function wallOf(zone: string): (moment: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "short",
  });
  // "2026-03-29 02:30", as UTC would show it.
  return (moment) => Date.parse(`${format.format(moment).replace(" ", "T")}:00Z`);
}

/** The hours of the year after which a zone's clock is no longer what it was. */
function changesOf(wall: (moment: number) => number): readonly number[] {
  const changes: number[] = [];
  const step = 24 * hourMs;
  for (let day = yearStart; day < yearEnd; day += step) {
    if (wall(day + step) - wall(day) !== step) changes.push(hourOfChange(wall, day, day + step));
  }
  return changes;
}

function hourOfChange(wall: (moment: number) => number, from: number, to: number): number {
  let hour = from;
  while (hour < to && wall(hour + hourMs) - wall(hour) === hourMs) hour += hourMs;
  return hour;
}

const walks = new Map<string, number[][]>();

/** The walk of the first zone whose clock showed the same at both ends, and changed at the same moment. */
function walkOnce(wall: (moment: number) => number, from: number, to: number): number[][] {
  const key = [from, wall(from), wall(to)].join();
  const known = walks.get(key) ?? walk(wall, from, to);
  walks.set(key, known);
  return known;
}

/** Walks through the minutes and writes down what is due, as streams/README.md says it. */
function walk(wall: (moment: number) => number, from: number, to: number): number[][] {
  const due = plans.map(() => new Set<number>());
  let latest = wall(from);
  for (let moment = from + minuteMs; moment <= to; moment += minuteMs) {
    const shown = wall(moment);
    // Skipped minutes: each is due as long after the last one shown as it would have been.
    for (let skipped = latest + minuteMs; skipped < shown; skipped += minuteMs) {
      note(due, skipped, moment + skipped - latest - minuteMs, false);
    }
    note(due, shown, moment, shown <= latest);
    latest = Math.max(latest, shown);
  }
  return due.map((moments) => [...moments].filter((one) => one <= to).sort((a, b) => a - b));
}

function note(due: readonly Set<number>[], shown: number, moment: number, again: boolean): void {
  const [minute, hour] = [(shown / minuteMs) % 60, (shown / hourMs) % 24];
  for (const [n, { isDue, everyHour }] of plans.entries()) {
    if (isDue(minute, Math.floor(hour)) && (!again || everyHour)) due[n]?.add(moment);
  }
}

function ticks(expression: string, timezone: string, from: number, to: number): number[] {
  const found: number[] = [];
  for (let time = from; ;) {
    const next = nextTick({ expression, timezone }, time);
    if (next === null || next > to) return found;
    found.push(next);
    time = next;
  }
}

const shownAs = (moments: readonly number[]): readonly string[] =>
  moments.map((moment) => new Date(moment).toISOString());

const zones = Intl.supportedValuesOf("timeZone").filter((_, n) => isLong || n % 20 === 0);

test("every schedule ticks at the minutes of a walk around each clock change of a year", () => {
  let changes = 0;
  for (const zone of zones) {
    const wall = wallOf(zone);
    for (const change of changesOf(wall)) {
      changes += 1;
      const [from, to] = [change - aroundMs, change + aroundMs];
      const expected = walkOnce(wall, from, to);
      for (const [n, { expression }] of plans.entries()) {
        const found = shownAs(ticks(expression, zone, from, to));
        expect(found, `${zone} ${expression}`).toEqual(shownAs(expected[n] ?? []));
      }
    }
  }
  process.stdout.write(`${changes} changes of clocks\n`);
  expect(changes).toBeGreaterThan(isLong ? 200 : 8);
}, 120_000);

test("every schedule ticks at the minutes of a walk through a day without a clock change", () => {
  const [from, to] = [Date.UTC(2026, 6, 1, 0, 7), Date.UTC(2026, 6, 2, 0, 7)];
  for (const zone of zones) {
    const expected = walkOnce(wallOf(zone), from, to);
    for (const [n, { expression }] of plans.entries()) {
      expect(ticks(expression, zone, from, to), `${zone} ${expression}`).toEqual(expected[n]);
    }
  }
}, 120_000);

test("nextTick finds a tick from any moment before it and none after it", () => {
  const schedule = { expression: "*/15 1-3 * * *", timezone: "Australia/Lord_Howe" };
  const change = Date.UTC(2026, 9, 3, 15, 30);
  const all = ticks(schedule.expression, schedule.timezone, change - aroundMs, change + aroundMs);
  for (let time = change - 3 * hourMs; time < change + 3 * hourMs; time += 7 * minuteMs + 333) {
    expect(nextTick(schedule, time)).toBe(all.find((one) => one > time));
  }
});
