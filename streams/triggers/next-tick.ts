import { CronExpressionParser } from "cron-parser";
import { toInstant, toWallTime } from "./wall-time.ts";

/** When an agent is due: a five-field cron expression in an IANA time zone. */
export interface Schedule {
  readonly expression: string;
  readonly timezone: string;
}

/** A wall time may come twice or not at all; within so many ticks one lies ahead. */
const maxSteps = 200;

/**
 * The first tick strictly after `after` (epoch ms), or null when there is none.
 *
 * cron-parser throws, repeats, gives up or steps back around the odd clock changes of a few zones (Lord Howe, Troll,
 * Chatham). Then the tick is found on a clock without changes, and turned into a moment afterwards.
 */
export function nextTick(schedule: Schedule, after: number): number | null {
  const tick = parserTick(schedule, after);
  return tick !== null && tick > after ? tick : wallClockTick(schedule, after);
}

function wallClockTick({ expression, timezone }: Schedule, after: number): number | null {
  let wall = toWallTime(after, timezone);
  for (let step = 0; step < maxSteps; step++) {
    const next = parserTick({ expression, timezone: "UTC" }, wall);
    if (next === null) return null;
    const tick = toInstant(next, timezone);
    if (tick > after) return tick;
    wall = next;
  }
  return null;
}

function parserTick({ expression, timezone }: Schedule, after: number): number | null {
  try {
    const cron = CronExpressionParser.parse(expression, { currentDate: after, tz: timezone });
    return cron.hasNext() ? cron.next().getTime() : null;
  } catch {
    return null;
  }
}
