import type { Schedule, ScheduleEntry } from "../agent-config.ts";
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

/** The first tick strictly after `after` (epoch ms) that is not left out, or null if there is none. */
export function nextRun(schedule: LimitedSchedule, after: number): number | null {
  if (schedule.leftOut === undefined) return nextTick(schedule, after);
  for (const { at, leftOut } of ticksAfter(schedule, after)) if (leftOut === null) return at;
  return null;
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
