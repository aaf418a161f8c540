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
const nextRuns = 10;
const mostRuns = 200;

/** Which runs to look ahead for. */
interface Ahead {
  readonly calendars: Calendars;
  /** Epoch ms. */
  readonly now: number;
  /** How many days; by default the next ten runs within a year. */
  readonly days?: number | undefined;
}

/** The next runs of an agent in order, and what calendars leave out before the last of them. */
export function upcomingRuns(agent: AgentConfig, { days, ...ahead }: Ahead): UpcomingRun[] {
  const most = days === undefined ? nextRuns : mostRuns;
  const end = ahead.now + (days === undefined ? yearMs : days * dayMs);
  const rows = schedulesOf(agent).flatMap((entry) => rowsOf(agent, entry, most, end, ahead));
  const sorted = rows.sort((a, b) => a.at.localeCompare(b.at));
  const last = sorted.filter(({ leftOut }) => leftOut === null)[most - 1];
  return last === undefined ? sorted : sorted.slice(0, sorted.indexOf(last) + 1);
}

/** The next run of each schedule, and what calendars leave out before it. */
export function firstRuns(agent: AgentConfig, ahead: Omit<Ahead, "days">): UpcomingRun[] {
  const end = ahead.now + yearMs;
  return schedulesOf(agent).flatMap((entry) => rowsOf(agent, entry, 1, end, ahead));
}

/** `most` limits the runs, `end` (epoch ms) the time. */
function rowsOf(
  { name }: AgentConfig,
  entry: ScheduleEntry,
  most: number,
  end: number,
  { calendars, now }: Omit<Ahead, "days">,
): UpcomingRun[] {
  const { name: schedule, timezone } = entry;
  const rows: UpcomingRun[] = [];
  let runs = 0;
  for (const { at, leftOut } of upcoming(limited(entry, calendars), now, end)) {
    const left = leftOut && { ...leftOut, until: isoTime(leftOut.until) };
    rows.push({ agent: name, schedule, at: isoTime(at), timezone, leftOut: left });
    if (leftOut === null && ++runs === most) break;
  }
  return rows;
}

/** What calendars left out since then (epoch ms), and leave out next: one sentence a reason, about its latest time. */
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
