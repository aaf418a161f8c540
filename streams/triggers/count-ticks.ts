import { CronExpressionParser } from "cron-parser";
import type { Schedule } from "../agent-config.ts";
import { shownAt } from "../wall-time.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Number of ticks of a schedule after `from` and up to `to` (epoch ms). Counted by days, since a schedule of every
 * minute has tens of thousands a month; an hour that the clock shows twice counts once.
 */
export function countTicks({ expression, timezone }: Schedule, from: number, to: number): number {
  const [first, last] = [shownAt(from, timezone), shownAt(to, timezone)];
  const [firstDay, lastDay] = [startOfDay(first), startOfDay(last)];
  const minutes = minutesOfDay(expression);
  const until = (wall: number): number =>
    minutes.filter((minute) => startOfDay(wall) + minute * minuteMs <= wall).length;
  let count = 0;
  for (const day of daysOf(expression, firstDay, last)) {
    count += day === lastDay ? until(last) : minutes.length;
    if (day === firstDay) count -= until(first);
  }
  return count;
}

/** The minutes of a day on which the schedule is due, from midnight. */
function minutesOfDay(expression: string): readonly number[] {
  const { hour, minute } = CronExpressionParser.parse(expression, { tz: "UTC" }).fields;
  return hour.values.flatMap((hours) => minute.values.map((minutes) => hours * 60 + minutes));
}

/** The days on which the schedule is due, as the epoch ms at which UTC shows their midnight. */
function* daysOf(expression: string, firstDay: number, last: number): Generator<number> {
  const dates = expression.trim().split(/\s+/).slice(-3).join(" ");
  try {
    const options = { currentDate: firstDay - minuteMs, tz: "UTC" };
    const cron = CronExpressionParser.parse(`0 0 ${dates}`, options);
    while (cron.hasNext()) {
      const day = cron.next().getTime();
      if (day > last) return;
      yield day;
    }
  } catch {
    // The schedule has no further tick.
  }
}

function startOfDay(wall: number): number {
  return Math.floor(wall / dayMs) * dayMs;
}
