import { CronExpressionParser } from "cron-parser";
import type { Schedule } from "../agent-config.ts";
import { leastShown, momentsOf } from "../wall-time.ts";

/** Around a clock change as many times are checked as there are minutes in it; more means that none comes. */
const maxSteps = 4_000;
const hoursOfDay = 24;

/**
 * The first tick strictly after `after` (epoch ms), or null if the schedule has no later tick.
 *
 * A time that the zone's clock skips comes as much later as was skipped. One that it shows twice comes the first
 * time, and for a schedule of every hour both times. The expression is read on a clock without changes: around them
 * cron-parser throws, repeats, leaves out or steps back in some zones (Lord Howe, Troll, Chatham).
 */
export function nextTick(schedule: Schedule, after: number): number | null {
  const key = `${schedule.timezone} ${schedule.expression}`;
  const known = found.get(key);
  if (known !== undefined && known.after <= after && after < known.tick) return known.tick;
  const tick = search(schedule, after);
  if (tick !== null) remember(key, { after, tick });
  return tick;
}

/** `tick` is the next one after `after`. */
interface Found {
  readonly after: number;
  readonly tick: number;
}

/** Agents share schedules and are asked about at the same moments: a search takes some 0.2 ms, and all are due at once. */
const found = new Map<string, Found>();
const maxFound = 500;

function remember(key: string, tick: Found): void {
  if (found.size >= maxFound) found.clear();
  found.set(key, tick);
}

function search({ expression, timezone }: Schedule, after: number): number | null {
  let best: number | null = null;
  for (const { wall, everyHour } of wallTicks(expression, leastShown(after, timezone))) {
    const { first, second, isSkipped } = momentsOf(wall, timezone);
    if (first > after) {
      best = Math.min(first, best ?? first);
      // All later results come later, except those that a skipped tick has overtaken.
      if (!isSkipped) return best;
    } else if (everyHour && second !== null && second > after) {
      best = Math.min(second, best ?? second);
    }
  }
  return best;
}

/** The matching times after one of them, on a clock that never changes. */
function* wallTicks(
  expression: string,
  after: number,
): Generator<{ readonly wall: number; readonly everyHour: boolean }> {
  try {
    const cron = CronExpressionParser.parse(expression, { currentDate: after, tz: "UTC" });
    const everyHour = cron.fields.hour.values.length === hoursOfDay;
    for (let step = 0; step < maxSteps && cron.hasNext(); step++) {
      yield { wall: cron.next().getTime(), everyHour };
    }
  } catch {
    // The schedule has no further tick.
  }
}
