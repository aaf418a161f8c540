import {
  schedulesOf,
  type AgentConfig,
  type ScheduleEntry,
} from "../../../streams/agent-config.ts";
import { isoTime } from "../../../streams/iso-times.ts";
import type { Calendars } from "../../../streams/triggers/calendar.ts";
import { limited, upcoming, type UpcomingTick } from "../../../streams/triggers/next-run.ts";
import { counted, momentText } from "../contracts/format.ts";
import type { UpcomingRun } from "../contracts/upcoming-run.ts";

const dayMs = 86_400_000;
const yearMs = 366 * dayMs;

/** Which runs to look ahead for. */
interface Ahead {
  readonly calendars: Calendars;
  /** Epoch ms. */
  readonly now: number;
  /** How many days; by default a year. */
  readonly days?: number | undefined;
  /** How many runs; by default ten, or with `days` 200. */
  readonly most?: number;
}

/** The next runs of an agent in order, and what calendars leave out before the last of them. */
export function upcomingRuns(
  agent: AgentConfig,
  { calendars, now, days, most = days === undefined ? 10 : 200 }: Ahead,
): UpcomingRun[] {
  const end = now + (days === undefined ? yearMs : days * dayMs);
  const rows = schedulesOf(agent).flatMap((entry) => {
    const ticks = upcoming(limited(entry, calendars), now, end);
    return [...firstRuns(ticks, most)].map((tick) => viewOf(agent.name, entry, tick));
  });
  const sorted = rows.sort((a, b) => a.at.localeCompare(b.at));
  const last = sorted.filter(({ leftOut }) => leftOut === null)[most - 1];
  return last === undefined ? sorted : sorted.slice(0, sorted.indexOf(last) + 1);
}

/** The first ticks that have so many runs. */
function* firstRuns(ticks: Iterable<UpcomingTick>, most: number): Generator<UpcomingTick> {
  let runs = 0;
  for (const tick of ticks) {
    yield tick;
    if (tick.leftOut === null && ++runs === most) return;
  }
}

function viewOf(
  agent: string,
  { name: schedule, timezone }: ScheduleEntry,
  { at, leftOut }: UpcomingTick,
): UpcomingRun {
  const left = leftOut && { ...leftOut, until: isoTime(leftOut.until) };
  return { agent, schedule, at: isoTime(at), timezone, leftOut: left };
}

/** Sentences about ticks that calendars left out since then (epoch ms) or leave out next: one a reason, about its latest time. */
export function leftOutTexts(
  agent: AgentConfig,
  calendars: Calendars,
  since: number,
  now: number,
): string[] {
  return schedulesOf(agent).flatMap((entry) => {
    if (entry.calendar === null) return [];
    const schedule = limited(entry, calendars);
    const [next] = upcoming(schedule, now, now + yearMs);
    const ticks = [...upcoming(schedule, since, now), ...(next === undefined ? [] : [next])];
    const latest = new Map(ticks.map((tick) => [tick.leftOut?.why, leftOutText(entry, tick)]));
    latest.delete(undefined);
    return [...latest.values()];
  });
}

function leftOutText({ name }: ScheduleEntry, { at, leftOut }: UpcomingTick): string {
  const { why = "", until = at, count = 0 } = leftOut ?? {};
  const runs = `${counted(count, "scheduled run")} from ${momentText(at)} to ${momentText(until)}`;
  return `Schedule ${name}: ${runs} left out by ${why}.`;
}
