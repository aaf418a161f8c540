import { CronExpressionParser } from "cron-parser";
import { messageOf } from "../errors.ts";

const advice = 'use five fields, e.g. "0 9 * * *"';

/** What is wrong with a schedule, null when nothing is. */
export function scheduleProblem(schedule: string): string | null {
  const quoted = `schedule ${JSON.stringify(schedule)}`;
  // The parser takes fewer fields as "every minute" and six as seconds.
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return `${quoted} is not a cron expression; ${advice}`;
  // The parser takes H too, and means another time each time it is asked. (TH and THU are Thursday.)
  if (fields.some((field) => /(^|[^A-Z])H/i.test(field))) {
    return `${quoted} is not a cron expression: H is not supported; ${advice}`;
  }
  return neverDue(fields.join(" "), quoted);
}

/** UTC and a fixed start, so that odd clock changes don't matter and the answer is always the same. */
const options = { currentDate: 0, tz: "UTC" };

function neverDue(schedule: string, quoted: string): string | null {
  try {
    const cron = CronExpressionParser.parse(schedule, options);
    if (cron.hasNext()) return null;
  } catch (error) {
    const reason = messageOf(error);
    if (!/explicit day of month/i.test(reason)) {
      return `${quoted} is not a cron expression (${reason}); ${advice}`;
    }
  }
  return `${quoted} never comes due; choose a day that its months have`;
}
