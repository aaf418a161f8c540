import ICAL from "ical.js";
import type { CalendarSpan } from "../../../streams/triggers/calendar.ts";

/** Repeated events are worked out from last year on, for so many years. */
const years = 12;
/** Limits how long an event of every second is worked out. */
const maxOccurrences = 20_000;
const maxTextLength = 100;

/** Epoch ms of a wall time in a zone, null for an unknown zone. The machine knows newer rules than the file. */
type ToMoment = (wall: number, zone: string) => number | null;

/** The events of an .ics file (RFC 5545) as spans, sorted; `thisYear` is the calendar year. Throws an Error. */
export function readCalendar(
  text: string,
  thisYear: number,
  toMoment: ToMoment,
): readonly CalendarSpan[] {
  const events = ICAL.Component.fromString(text).getAllSubcomponents("vevent");
  const isChange = (event: ICAL.Component) => event.hasProperty("recurrence-id");
  const changes = events.filter(isChange).map((event) => new ICAL.Event(event));
  const [from, until] = [thisYear - 1, thisYear - 1 + years];
  const spans: CalendarSpan[] = [];
  for (const component of events.filter((event) => !isChange(event))) {
    const uid = component.getFirstPropertyValue("uid");
    const exceptions = changes.filter((change) => change.uid === uid);
    const event = new ICAL.Event(component, { strictExceptions: true, exceptions });
    for (const { item, startDate, endDate } of occurrences(event, until)) {
      if (endDate.year < from || item.component.getFirstPropertyValue("status") === "CANCELLED") {
        continue;
      }
      if (spans.length >= maxOccurrences) throw tooMany();
      spans.push(spanOf(item, startDate, endDate, toMoment));
    }
  }
  return spans.sort((a, b) => a.from - b.from);
}

interface Occurrence {
  readonly item: ICAL.Event;
  readonly startDate: ICAL.Time;
  readonly endDate: ICAL.Time;
}

function* occurrences(event: ICAL.Event, until: number): Generator<Occurrence> {
  if (!event.isRecurring()) {
    yield { item: event, startDate: event.startDate, endDate: event.endDate };
    return;
  }
  const isDay = realDays(event);
  const starts = event.iterator();
  for (let count = 0; ; count++) {
    const start = starts.next() as ICAL.Time | undefined;
    if (start === undefined || start.year >= until) return;
    if (count >= maxOccurrences) throw tooMany();
    if (isDay(start)) yield event.getOccurrenceDetails(start);
  }
}

/** Throws an Error for rules that ical.js 2.2 gets wrong. */
function rulesOf(component: ICAL.Component): readonly ICAL.Recur[] {
  const rules = component.getAllProperties("rrule").map((one) => one.getFirstValue() as ICAL.Recur);
  for (const rule of rules) {
    const { BYWEEKNO: weeks, BYSETPOS: positions, BYMONTHDAY: days } = rule.parts;
    if (weeks === undefined && (positions === undefined || days === undefined)) continue;
    throw new Error(`its rule ${rule.toString()} is not supported`);
  }
  return rules;
}

/** ical.js 2.2 takes 30 February as 2 March in yearly rules, which have to leave such days out. */
function realDays({ component, startDate }: ICAL.Event): (day: ICAL.Time) => boolean {
  const [rule, ...others] = rulesOf(component);
  if (rule === undefined || others.length > 0 || component.hasProperty("rdate")) return () => true;
  const { BYMONTH: months, BYMONTHDAY, BYDAY, BYYEARDAY } = rule.parts;
  const isByStart = rule.freq === "YEARLY" && BYDAY === undefined && BYYEARDAY === undefined;
  const days = BYMONTHDAY ?? (isByStart ? [startDate.day] : undefined);
  if (days === undefined || days.some((day) => day < 0)) return () => true;
  return ({ day, month }) => days.includes(day) && months?.includes(month) !== false;
}

function tooMany(): Error {
  return new Error(`its events take place more than ${maxOccurrences} times in ${years} years`);
}

function spanOf(
  { component }: ICAL.Event,
  start: ICAL.Time,
  end: ICAL.Time,
  toMoment: ToMoment,
): CalendarSpan {
  const zoneOf = (name: string): string | null => {
    const zone = component.getFirstProperty(name)?.getParameter("tzid");
    return typeof zone === "string" ? zone : null;
  };
  const zone = zoneOf("dtstart");
  const summary = component.getFirstPropertyValue("summary");
  const isLocal = start.isDate || (zone === null && start.zone.tzid === "floating");
  const from = momentOf(start, isLocal ? null : zone, toMoment);
  const until = momentOf(end, isLocal ? null : (zoneOf("dtend") ?? zone), toMoment);
  if (!Number.isFinite(from) || !Number.isFinite(until)) {
    throw new Error(`the event ${JSON.stringify(summary)} has no valid start or end`);
  }
  const text = typeof summary === "string" ? summary.slice(0, maxTextLength) : "busy";
  return { from, until, isLocal, text };
}

/** Epoch ms, of a wall time without a zone as UTC shows it. */
function momentOf(time: ICAL.Time, zone: string | null, toMoment: ToMoment): number {
  const { year, month, day, hour, minute, second } = time;
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  const moment = zone === null ? wall : toMoment(wall, zone);
  if (moment !== null) return moment;
  if (time.zone.tzid !== "floating") return time.toUnixTime() * 1000;
  throw new Error(`the file does not define its time zone ${JSON.stringify(zone)}`);
}
