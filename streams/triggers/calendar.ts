import { momentsOf, shownAt } from "../wall-time.ts";

/** A `[calendars.<name>]` of the project: days and times. Plain data. */
export interface Calendar {
  /** Sorted by `from`. */
  readonly spans: readonly CalendarSpan[];
  readonly windows: readonly WeeklyWindow[];
}
export type Calendars = Readonly<Record<string, Calendar>>;

export interface CalendarSpan {
  /** Epoch ms. */
  readonly from: number;
  readonly until: number;
  /** Whether both are wall times of the schedule's time zone, each as the epoch ms at which UTC shows it. */
  readonly isLocal: boolean;
  /** For a person: the name of a holiday. */
  readonly text: string;
}

/** A span of each week in the schedule's time zone, in ms after the start of Monday. It may end in the next week. */
export interface WeeklyWindow {
  readonly from: number;
  readonly until: number;
  readonly text: string;
}

/** Why a tick is left out. */
export interface LeftOut {
  readonly why: string;
  /** Until when no tick can be due, epoch ms; Infinity for always. */
  readonly until: number;
}

/** Calendars that limit a schedule. */
export interface CalendarUse {
  readonly skip: readonly NamedCalendar[];
  readonly only: readonly NamedCalendar[];
  readonly timezone: string;
}

type NamedCalendar = readonly [name: string, calendar: Calendar];

/** Null if the moment (epoch ms) is not left out. */
export function leftOutAt({ skip, only, timezone }: CalendarUse, at: number): LeftOut | null {
  for (const [name, calendar] of skip) {
    const found = covering(calendar, at, timezone);
    if (found !== null) return { why: `calendar ${name}: ${found.text}`, until: found.until };
  }
  const isIn = ([, calendar]: NamedCalendar) => covering(calendar, at, timezone) !== null;
  if (only.length === 0 || only.some(isIn)) return null;
  const names = only.map(([name]) => name).join(", ");
  const starts = only.map(([, calendar]) => nextStart(calendar, at, timezone));
  return { why: `calendar ${names}: outside of it`, until: Math.min(...starts) };
}

const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
/** The first Monday, as the epoch ms of its start in UTC. */
const firstMonday = 4 * dayMs;

function covering(calendar: Calendar, at: number, timezone: string): CalendarSpan | null {
  for (const span of spansNear(calendar, at, timezone)) {
    // UTC shows a wall time less than a day earlier or later. Conversions are slow, comparisons are not.
    if (at < span.from - dayMs || at > span.until + dayMs) continue;
    const exact = inZone(span, timezone);
    if (exact.from <= at && at < exact.until) return exact;
  }
  return null;
}

function nextStart(calendar: Calendar, at: number, timezone: string): number {
  let best = Infinity;
  for (const span of spansNear(calendar, at, timezone)) {
    if (span.from < at - dayMs || span.from - dayMs > best) continue;
    const { from } = inZone(span, timezone);
    if (from > at) best = Math.min(best, from);
  }
  return best;
}

/** The span in epoch ms. */
function inZone(span: CalendarSpan, timezone: string): CalendarSpan {
  if (!span.isLocal) return span;
  const [from, until] = [
    momentsOf(span.from, timezone).first,
    momentsOf(span.until, timezone).first,
  ];
  return { ...span, from, until };
}

/** All spans, with the windows of last week, this week and the next. */
function* spansNear({ spans, windows }: Calendar, at: number, timezone: string) {
  yield* spans;
  const wall = shownAt(at, timezone);
  const monday = Math.floor((wall - firstMonday) / weekMs) * weekMs + firstMonday;
  for (const week of [monday - weekMs, monday, monday + weekMs]) {
    for (const { from, until, text } of windows) {
      yield { from: week + from, until: week + until, isLocal: true, text };
    }
  }
}
