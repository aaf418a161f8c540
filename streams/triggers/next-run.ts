import { schedulesOf, type Schedule, type ScheduleEntry } from "../agent-config.ts";
import { leftOutAt, type Calendars, type LeftOut } from "./calendar.ts";
import { countTicks } from "./count-ticks.ts";
import { nextTick } from "./next-tick.ts";

/** A schedule with its calendars. */
export interface LimitedSchedule extends Schedule {
  /** Null for a moment (epoch ms) that is not left out; absent without calendars. */
  readonly leftOut?: (at: number) => LeftOut | null;
}

/** The schedule of an entry, limited by the calendars that it names. */
export function limited(
  { expression, timezone, calendar }: ScheduleEntry,
  calendars: Calendars,
): LimitedSchedule {
  if (calendar === null) return { expression, timezone };
  const named = (names: readonly string[]) =>
    names.flatMap((name) => {
      const found = calendars[name];
      return found === undefined ? [] : [[name, found] as const];
    });
  const use = { skip: named(calendar.skip), only: named(calendar.only), timezone };
  return { expression, timezone, leftOut: (at) => leftOutAt(use, at) };
}

/** The first tick strictly after `after` (epoch ms) that is not left out; null after the last one. */
export function nextRun(schedule: LimitedSchedule, after: number): number | null {
  if (schedule.leftOut === undefined) return nextTick(schedule, after);
  for (const { at, leftOut } of ticksAfter(schedule, after)) if (leftOut === null) return at;
  return null;
}

/** The ticks from `from` to `to` (epoch ms), both included, that are not left out; with `most`, the first of them. */
export function runsFrom(
  schedule: LimitedSchedule,
  from: number,
  to: number,
  most = Infinity,
): readonly number[] {
  const runs: number[] = [];
  let tick = nextRun(schedule, from - 1);
  while (tick !== null && tick <= to && runs.length < most) {
    runs.push(tick);
    tick = nextRun(schedule, tick);
  }
  return runs;
}

/** Number of ticks after `from` and up to `to` (epoch ms) without those that are left out, of which 1,000 are looked for. */
export function countRuns(schedule: LimitedSchedule, from: number, to: number): number {
  const all = countTicks(schedule, from, to);
  if (schedule.leftOut === undefined) return all;
  return [...upcoming(schedule, from, to)].reduce(
    (sum, { leftOut }) => sum - (leftOut?.count ?? 0),
    all,
  );
}

/** A schedule of an agent by its name, empty for the short one. */
export type NamedSchedule = LimitedSchedule & Pick<ScheduleEntry, "name">;

/** The schedules of an agent, limited by their calendars. */
export function limitedSchedules(
  config: Parameters<typeof schedulesOf>[0] | null,
  calendars: Calendars,
): readonly NamedSchedule[] {
  const entries = config === null ? [] : schedulesOf(config);
  return entries.map((entry) => ({ name: entry.name, ...limited(entry, calendars) }));
}

/** A tick; or, if it is left out, the first of some. Times are epoch ms. */
export interface UpcomingTick {
  readonly at: number;
  readonly leftOut: null | {
    readonly why: string;
    readonly until: number;
    /** Number of ticks from this one to `until`. */
    readonly count: number;
  };
}

/** The ticks after `after` and up to `end`; those that are left out for one reason are one. */
export function* upcoming(
  schedule: LimitedSchedule,
  after: number,
  end: number,
): Generator<UpcomingTick> {
  for (const { at, leftOut } of ticksAfter(schedule, after)) {
    if (at > end) return;
    if (leftOut === null) yield { at, leftOut };
    else yield { at, leftOut: counted(schedule, at, leftOut, end) };
  }
}

function counted(schedule: Schedule, at: number, { why, until }: LeftOut, end: number) {
  const last = Math.min(until, end);
  // A time that the clock shows twice may have been counted before.
  return { why, until: last, count: Math.max(1, countTicks(schedule, at - 1, last - 1)) };
}

/** More spans in a row without a run: the calendars leave out all ticks. */
const maxSteps = 1_000;

/** Ticks; of those that are left out for one reason the first. */
function* ticksAfter({ leftOut: why, ...schedule }: LimitedSchedule, after: number) {
  let from = after;
  for (let step = 0; step < maxSteps && from < Infinity; step++) {
    const at = nextTick(schedule, from);
    if (at === null) return;
    const leftOut = why?.(at) ?? null;
    yield { at, leftOut };
    from = leftOut === null ? at : leftOut.until - 1;
  }
}
