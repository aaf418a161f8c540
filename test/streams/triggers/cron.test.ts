import { toArray, takeUntil, timer } from "rxjs";
import { createClock } from "../../../streams/clock.ts";
import { cronTicks, type CronEvent, type CronPlan } from "../../../streams/triggers/cron.ts";
import { VirtualCalendar } from "../../helpers/marbles.ts";

const plan = (expression: string, catchUp: CronPlan["catchUp"] = "none"): CronPlan => ({
  expression,
  timezone: "UTC",
  catchUp,
});

/** Everything that a schedule does between two moments, each event in one line. */
function lived(cron: CronPlan, start: string, end: string, since?: string): string[] {
  const calendar = new VirtualCalendar(start);
  const clock = createClock(calendar);
  const seen: string[] = [];
  const from = since === undefined ? undefined : Date.parse(since);
  const subscription = cronTicks(cron, clock, from).subscribe((event) => seen.push(line(event)));
  calendar.runUntil(end);
  subscription.unsubscribe();
  return seen;
}

function line(event: CronEvent): string {
  const iso = (time: number): string => new Date(time).toISOString().slice(0, 16);
  if (event.type === "tick") return `tick ${iso(event.scheduledFor)}`;
  if (event.type === "next") return `next ${event.at === null ? "never" : iso(event.at)}`;
  return `missed ${event.count}: ${iso(event.first)} to ${iso(event.last)}`;
}

test.each<
  [name: string, plan: CronPlan, from: string, to: string, lines: string[], since?: string]
>([
  [
    "emit when the next one is due, then the tick, again and again",
    plan("0 9 * * *"),
    "2026-05-04T00:00:00Z",
    "2026-05-05T10:00:00Z",
    [
      "next 2026-05-04T09:00",
      "tick 2026-05-04T09:00",
      "next 2026-05-05T09:00",
      "tick 2026-05-05T09:00",
      "next 2026-05-06T09:00",
    ],
  ],
  [
    "emit once that a schedule is never due",
    plan("0 0 31 2 *"),
    "2026-01-01T00:00:00Z",
    "2026-01-02T00:00:00Z",
    ["next never"],
  ],
  [
    "report those that passed while the scheduler was down as missed",
    plan("0 * * * *"),
    "2026-05-04T09:30:00Z",
    "2026-05-04T09:59:00Z",
    [
      "next 2026-05-04T07:00",
      "missed 3: 2026-05-04T07:00 to 2026-05-04T09:00",
      "next 2026-05-04T10:00",
    ],
    "2026-05-04T06:30:00Z",
  ],
  [
    "do not make up for one that passed just before the start",
    plan("* * * * *"),
    "2026-05-04T09:30:20Z",
    "2026-05-04T09:31:10Z",
    [
      "next 2026-05-04T09:30",
      "missed 1: 2026-05-04T09:30 to 2026-05-04T09:30",
      "next 2026-05-04T09:31",
      "tick 2026-05-04T09:31",
      "next 2026-05-04T09:32",
    ],
    "2026-05-04T09:29:30Z",
  ],
  [
    "include the latest missed one with catchUp",
    plan("0 * * * *", "latest"),
    "2026-05-04T09:30:00Z",
    "2026-05-04T09:59:00Z",
    [
      "next 2026-05-04T07:00",
      "missed 2: 2026-05-04T07:00 to 2026-05-04T08:00",
      "tick 2026-05-04T09:00",
      "next 2026-05-04T10:00",
    ],
    "2026-05-04T06:30:00Z",
  ],
])("cron ticks: %s", (_name, cron, from, to, expected, since) => {
  expect(lived(cron, from, to, since)).toEqual(expected);
});

test.each([
  [
    "come as one missed event after the machine slept",
    "*/10 * * * *",
    ["2026-05-04T00:05:00Z", 3_600_000, "2026-05-04T01:06:00Z"],
    [
      "next 2026-05-04T00:10",
      "missed 6: 2026-05-04T00:10 to 2026-05-04T01:00",
      "next 2026-05-04T01:10",
    ],
  ],
  [
    "come once when the clock is set back",
    "0 * * * *",
    ["2026-05-04T01:00:10Z", -60_000, "2026-05-04T01:30:00Z"],
    ["next 2026-05-04T01:00", "tick 2026-05-04T01:00", "next 2026-05-04T02:00"],
  ],
] as const)("cron ticks: %s", (_name, expression, [until, jumpMs, end], expected) => {
  const calendar = new VirtualCalendar("2026-05-04T00:00:00Z");
  const seen: string[] = [];
  cronTicks(plan(expression), createClock(calendar)).subscribe((event) => seen.push(line(event)));
  calendar.runUntil(until);
  calendar.jump(jumpMs);
  calendar.runUntil(end);
  expect(seen).toEqual(expected);
});

test("cron ticks leave no timer behind when they are unsubscribed, and start anew for the next subscriber", () => {
  const calendar = new VirtualCalendar("2026-05-04T00:00:00Z");
  const tick$ = cronTicks(plan("0 * * * *"), createClock(calendar));
  const counts: number[] = [];
  for (const hours of [1, 3]) {
    tick$
      .pipe(takeUntil(timer(hours * 3_600_000 + 1, calendar)), toArray())
      .subscribe((events) => counts.push(events.filter(({ type }) => type === "tick").length));
  }
  calendar.runUntil("2026-05-04T12:00:00Z");
  expect(counts).toEqual([1, 3]);
});
