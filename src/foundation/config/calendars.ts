import { z } from "zod";
import type { WeeklyWindow } from "../../../streams/triggers/calendar.ts";
import { list, pattern, table } from "./fields.ts";
import { formatValue } from "./format-value.ts";
import type { ProjectCalendar } from "./project-config.ts";
import type { CalendarFile } from "./read-project.ts";
import type { Diagnostics } from "./validate.ts";

const days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const time = `(${days.join("|")}) ((?:[01]\\d|2[0-3]):[0-5]\\d|24:00)`;
const windowPattern = new RegExp(`^${time}-${time}$`);
const windowError = 'a time of each week, e.g. "Fri 18:00-Mon 06:00"';
const dateError = 'a day, e.g. "2026-12-24"';

const calendarSchema = table({
  file: pattern(/^\w[\w.-]*\.ics$/, 'an iCalendar file beside config.toml, e.g. "holidays.ics"')
    .optional()
    .describe(
      "iCalendar file of the project. A change of the file takes effect at once. All-day events are days of the schedule's time zone; repeated events are used for eleven years ahead.",
    ),
  dates: list(
    pattern(/^\d{4}-\d\d-\d\d$/, dateError).refine(isDate, { error: dateError }),
    'a list of days, e.g. ["2026-12-24", "2026-12-31"]',
  )
    .default([])
    .describe("Days, in the schedule's time zone."),
  windows: list(
    pattern(windowPattern, windowError),
    'a list of times of each week, e.g. ["Fri 18:00-Mon 06:00"]',
  )
    .default([])
    .describe("Times of each week, in the schedule's time zone. The end does not belong to it."),
});

const calendarName = pattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "letters, digits and . _ -");

/** The project's `[calendars.<name>]`. */
export const calendarsSchema = z
  .record(calendarName, calendarSchema, { error: "tables [calendars.<name>]" })
  .default({})
  .describe("Days and times, such as holidays, that `calendar` of `[[schedules]]` uses.");

type CalendarTable = z.output<typeof calendarSchema>;
type Files = ReadonlyMap<string, CalendarFile>;

/** Reports calendars without a day or time, and files that can't be used. */
export function checkCalendars(
  tables: Readonly<Record<string, CalendarTable>>,
  files: Files,
  diagnostics: Diagnostics,
): void {
  for (const [name, { file, dates, windows }] of Object.entries(tables)) {
    const path = ["calendars", name];
    if (file === undefined) {
      if (dates.length + windows.length > 0) continue;
      diagnostics.error(path, `${path.join(".")} is empty; set file, dates or windows`);
      continue;
    }
    const found = files.get(file) ?? { type: "missing" };
    if (found.type === "spans") continue;
    const reason =
      found.type === "missing" ? "is missing; put it beside config.toml" : found.reason;
    diagnostics.error([...path, "file"], `${path.join(".")}.file ${formatValue(file)} ${reason}`);
  }
}

export function calendarsOf(
  tables: Readonly<Record<string, CalendarTable>>,
  files: Files,
): Readonly<Record<string, ProjectCalendar>> {
  return Object.fromEntries(
    Object.entries(tables).map(
      ([name, { file = "", dates, windows }]): [string, ProjectCalendar] => {
        const found = files.get(file);
        const ofFile = found?.type === "spans" ? found.spans : [];
        const ofDates = dates.map((date) => {
          const from = Date.parse(date);
          return { from, until: from + dayMs, isLocal: true, text: date };
        });
        const spans = [...ofFile, ...ofDates].sort((a, b) => a.from - b.from);
        const written = { ...(file !== "" && { file }), dates, windows };
        return [name, { spans, windows: windows.map(windowOf), written }];
      },
    ),
  );
}

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

function windowOf(text: string): WeeklyWindow {
  const [, startDay, start = "", endDay, end = ""] = windowPattern.exec(text) ?? [];
  const at = (day = "", clock: string): number => {
    const [hours = 0, minutes = 0] = clock.split(":").map(Number);
    return days.indexOf(day) * dayMs + hours * hourMs + minutes * minuteMs;
  };
  const [from, until] = [at(startDay, start), at(endDay, end)];
  return { from, until: until > from ? until : until + 7 * dayMs, text };
}

/** Not 30 February, which `Date` reads as a day of March. */
function isDate(text: string): boolean {
  const at = Date.parse(text);
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(text);
}
