import { CronExpressionParser } from "cron-parser";
import { didYouMean } from "../contracts/did-you-mean.ts";
import { messageOf } from "../errors.ts";
import { formatNames } from "./format-value.ts";

const advice = 'use five fields, e.g. "0 9 * * *"';

/** Short names, as in crontab(5). `@reboot` is not supported: it names no time. */
const shortNames: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** A schedule in five fields with one space between them, so that equal schedules are equal texts. */
export function fiveFields(schedule: string): string {
  const text = schedule.trim().replace(/\s+/g, " ");
  return Object.hasOwn(shortNames, text) ? (shortNames[text] ?? text) : text;
}

/** The problem with a schedule; null if it is valid. */
export function scheduleProblem(schedule: string): string | null {
  const quoted = `schedule ${JSON.stringify(schedule)}`;
  // The parser accepts fewer fields as "every minute", six as seconds, and short names of its own.
  const fields = fiveFields(schedule).split(" ");
  if (schedule.trim().startsWith("@") && fields.length !== 5) {
    const known = Object.keys(shortNames);
    const near = didYouMean(schedule.trim(), known) || `; known are ${formatNames(known)}`;
    return `${quoted} is not a cron expression${near}`;
  }
  if (fields.length !== 5) return `${quoted} is not a cron expression; ${advice}`;
  // The parser accepts H too, with a different time at each call. (TH and THU are Thursday.)
  if (fields.some((field) => /(^|[^A-Z])H/i.test(field))) {
    return `${quoted} is not a cron expression: H is not supported; ${advice}`;
  }
  return longStep(fields, quoted) ?? neverDue(fields.join(" "), quoted);
}

/** How many values each field has, and what they are values of. */
const fieldSizes = [
  [60, "minutes of an hour"],
  [24, "hours of a day"],
  [31, "days of a month"],
  [12, "months of a year"],
  [7, "days of a week"],
] as const;

/** The parser takes a longer step than the field as its first value alone. */
function longStep(fields: readonly string[], quoted: string): string | null {
  for (const [index, [size, values]] of fieldSizes.entries()) {
    const steps = [...(fields[index] ?? "").matchAll(/\/(\d+)/g)].map(([, step]) => Number(step));
    const long = steps.find((step) => step > size);
    if (long === undefined) continue;
    return `${quoted} is not a cron expression: /${long} steps over all ${size} ${values}; use a step of at most ${size}, or another field`;
  }
  return null;
}

/** A warning about a form that vixie cron reads differently, as most systems do; null for other schedules. */
export function dayFieldsWarning(schedule: string): string | null {
  const [, , dayOfMonth = "", , dayOfWeek = ""] = fiveFields(schedule).split(" ");
  const isStep = (field: string) => /^[*?]\/0*(?:[2-9]|1\d)/.test(field);
  const isAny = (field: string) => /^[*?](?:\/0*1)?$/.test(field);
  const days = [dayOfMonth, dayOfWeek];
  if (!days.some(isStep) || days.some(isAny)) return null;
  return `schedule ${JSON.stringify(schedule)} is due on days that match ${JSON.stringify(dayOfMonth)} or ${JSON.stringify(dayOfWeek)}, while cron of most systems requires both; list the days instead of a step`;
}

/** UTC and a fixed start, so that odd clock changes don't matter and the answer is always the same. */
const options = { currentDate: 0, tz: "UTC" };

function neverDue(schedule: string, quoted: string): string | null {
  try {
    const cron = CronExpressionParser.parse(schedule, options);
    const isForEveryMonth = schedule.split(" ")[3] === "*";
    if (isForEveryMonth || cron.hasNext()) return null;
  } catch (error) {
    const reason = messageOf(error);
    if (!/explicit day of month/i.test(reason)) {
      return `${quoted} is not a cron expression (${reason}); ${advice}`;
    }
  }
  return `${quoted} never comes due; choose a day that its months have`;
}

/**
 * A pattern of schedules for editors: every sensible schedule that `scheduleProblem` accepts matches. Some invalid ones
 * match too, such as a range from 5 to 1 or the 30th of February. Uses only syntax that all regular expressions share.
 */
export function schedulePattern(): string {
  const months = "jan feb mar apr may jun jul aug sep oct nov dec";
  const weekdays = "sun mon tue wed thu fri sat";
  const month = oneOf(["0*(?:[1-9]|1[0-2])", ...anyCase(months)]);
  const weekday = oneOf(["0*[0-7]", ...anyCase(weekdays)]);
  const fields = [
    field("0*[1-5]?\\d"),
    field("0*(?:1?\\d|2[0-3])"),
    field("0*(?:[1-9]|[12]\\d|3[01])", "L"),
    field(month),
    oneOf([field(weekday, `${weekday}L`), `(?:[*?]|${weekday})#0*[1-5]`]),
  ];
  return `^\\s*${oneOf([fields.join("\\s+"), ...Object.keys(shortNames)])}\\s*$`;
}

/** A list of values and ranges, with steps; `last` has no step. */
function field(value: string, ...last: readonly string[]): string {
  const range = `(?:[*?]|${value}(?:-${value})?)(?:/0*[1-9]\\d*)?`;
  const item = oneOf([range, ...last]);
  return `${item}(?:,${item})*`;
}

function oneOf(patterns: readonly string[]): string {
  return `(?:${patterns.join("|")})`;
}

/** `jan` as `[jJ][aA][nN]`: a schema's pattern has no flags. */
function anyCase(names: string): string[] {
  return names.split(" ").map((name) => name.replace(/\w/g, (c) => `[${c}${c.toUpperCase()}]`));
}
