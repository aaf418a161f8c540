import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RRule } from "rrule";
import { readCalendar } from "../../../src/foundation/config/read-calendar.ts";
import { momentIn, readProject } from "../../../src/foundation/config/read-project.ts";
import { resolveProject } from "../../../src/foundation/config/resolve-project.ts";
import { directory, filters, project, projectChange, refusal, said } from "./samples.ts";

const year = 2026;

function ics(...lines: readonly string[]): string {
  return ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR", ""].join("\r\n");
}

const event = (...lines: readonly string[]): string =>
  ["BEGIN:VEVENT", "UID:one", "SUMMARY:Fair\\, all day", ...lines, "END:VEVENT"].join("\r\n");

/** `from to until`, marked with `local` for wall times. */
function read(...lines: readonly string[]): string[] {
  return readCalendar(ics(...lines), year, momentIn).map(({ from, until, isLocal }) => {
    const [start, end] = [from, until].map((at) => new Date(at).toISOString().slice(0, 16));
    return `${start} to ${end}${isLocal ? " local" : ""}`;
  });
}

test.each<[what: string, lines: readonly string[], spans: readonly string[]]>([
  ["a day", ["DTSTART;VALUE=DATE:20261224"], ["2026-12-24T00:00 to 2026-12-25T00:00 local"]],
  [
    "several days",
    ["DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20270102"],
    ["2026-12-24T00:00 to 2027-01-02T00:00 local"],
  ],
  [
    "a time without a zone",
    ["DTSTART:20261224T180000", "DURATION:PT2H"],
    ["2026-12-24T18:00 to 2026-12-24T20:00 local"],
  ],
  [
    "a time in UTC",
    ["DTSTART:20261224T180000Z", "DTEND:20261224T190000Z"],
    ["2026-12-24T18:00 to 2026-12-24T19:00"],
  ],
  [
    "a time in a zone",
    ["DTSTART;TZID=Europe/Berlin:20260328T180000", "DTEND;TZID=Europe/Berlin:20260329T180000"],
    ["2026-03-28T17:00 to 2026-03-29T16:00"],
  ],
  ["a cancelled event", ["DTSTART;VALUE=DATE:20261224", "STATUS:CANCELLED"], []],
  ["an event of the past", ["DTSTART;VALUE=DATE:20191224"], []],
  [
    "a repeated event without one of its days",
    ["DTSTART;VALUE=DATE:20260504", "RRULE:FREQ=WEEKLY;COUNT=3", "EXDATE;VALUE=DATE:20260511"],
    ["2026-05-04T00:00 to 2026-05-05T00:00 local", "2026-05-18T00:00 to 2026-05-19T00:00 local"],
  ],
])("the calendar of an .ics file has %s", (_what, lines, spans) => {
  expect(read(event(...lines))).toEqual(spans);
});

test("a changed occurrence of a repeated event moves that one alone, and leaves other events", () => {
  const rule = ["DTSTART:20260504T090000Z", "DTEND:20260504T100000Z", "RRULE:FREQ=DAILY;COUNT=2"];
  const other = event(...rule).replace("UID:one", "UID:two");
  const moved = event(
    "RECURRENCE-ID:20260505T090000Z",
    "DTSTART:20260505T120000Z",
    "DTEND:20260505T130000Z",
  );
  expect(read(event(...rule), moved, other)).toEqual([
    "2026-05-04T09:00 to 2026-05-04T10:00",
    "2026-05-04T09:00 to 2026-05-04T10:00",
    "2026-05-05T09:00 to 2026-05-05T10:00",
    "2026-05-05T12:00 to 2026-05-05T13:00",
  ]);
});

test("a time zone that only the .ics file defines is used", () => {
  const zone = [
    "BEGIN:VTIMEZONE",
    "TZID:Plus Three",
    "BEGIN:STANDARD",
    "DTSTART:19700101T000000",
    "TZOFFSETFROM:+0300",
    "TZOFFSETTO:+0300",
    "END:STANDARD",
    "END:VTIMEZONE",
  ];
  const lines = [
    "DTSTART;TZID=Plus Three:20260504T090000",
    "DTEND;TZID=Plus Three:20260504T100000",
  ];
  expect(read(...zone, event(...lines))).toEqual(["2026-05-04T06:00 to 2026-05-04T07:00"]);
  expect(() => read(event(...lines))).toThrow(/does not define its time zone "Plus Three"/);
});

test.each([
  "FREQ=YEARLY",
  "FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO",
  "FREQ=MONTHLY;BYDAY=2TU,-1FR",
  "FREQ=MONTHLY;BYMONTHDAY=-1;INTERVAL=2",
  "FREQ=WEEKLY;BYDAY=MO,WE;INTERVAL=3;UNTIL=20270601",
  "FREQ=DAILY;INTERVAL=17;COUNT=40",
  "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29",
  "FREQ=YEARLY;BYMONTH=1,4;BYMONTHDAY=31,30",
  "FREQ=YEARLY;BYYEARDAY=1,100,-1",
  "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
])("the days of an event with %s equal those of the library rrule", (rule) => {
  const start = new Date(Date.UTC(2025, 0, 3));
  const other = new RRule({ ...RRule.parseString(rule), dtstart: start });
  const theirs = other.between(new Date(Date.UTC(2025, 0, 1)), new Date(Date.UTC(2037, 0, 1)));
  const first = event("DTSTART;VALUE=DATE:20250103", `RRULE:${rule}`);
  const ours = readCalendar(ics(first), year, momentIn).map(({ from }) => new Date(from));
  // An event takes place at its start, also where its rule does not say so.
  const extra = ours[0]?.getTime() === start.getTime() && theirs[0]?.getTime() !== start.getTime();
  expect(extra ? ours.slice(1) : ours).toEqual(theirs);
  expect(theirs.length).toBeGreaterThan(2);
});

test("an event of 29 February that is repeated each year takes place in leap years alone", () => {
  const days = read(event("DTSTART;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY"));
  expect(days.map((day) => day.slice(0, 10))).toEqual(["2028-02-29", "2032-02-29", "2036-02-29"]);
});

test.each(["FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "FREQ=MONTHLY;BYMONTHDAY=28,29,30;BYSETPOS=-1"])(
  "an event with %s is refused, since the library would repeat it on other days",
  (rule) => {
    expect(() => read(event("DTSTART;VALUE=DATE:20260109", `RRULE:${rule}`))).toThrow(
      /is not supported/,
    );
  },
);

test("the bank holidays of England are days that schedules in London skip", async () => {
  const text = await readFile("examples/schedules/bank-holidays.ics", "utf8");
  const days = readCalendar(text, year, momentIn).map(({ from, text: name }) => [
    new Date(from).toISOString().slice(0, 10),
    name,
  ]);
  expect(days.filter(([day]) => day?.startsWith("2027"))).toEqual([
    ["2027-01-01", "New Year's Day"],
    ["2027-03-26", "Good Friday"],
    ["2027-03-29", "Easter Monday"],
    ["2027-05-03", "Early May bank holiday"],
    ["2027-05-31", "Spring bank holiday"],
    ["2027-08-30", "Summer bank holiday"],
    ["2027-12-25", "Christmas Day"],
    ["2027-12-26", "Boxing Day"],
    ["2027-12-27", "Christmas Day (substitute day)"],
    ["2027-12-28", "Boxing Day (substitute day)"],
  ]);
});

test("an event that takes place too often is refused, not worked out", () => {
  const often = event("DTSTART:20260504T090000Z", "RRULE:FREQ=SECONDLY");
  expect(() => read(often)).toThrow(/more than 20000 times/);
});

const config = '[calendars.fair]\nfile = "fair.ics"\n';

async function withFile(text: string) {
  const dir = await directory({ "config.toml": config, "fair.ics": text });
  return resolveProject(await readProject(dir), filters);
}

test("a calendar of the project is read from the file beside its config.toml", async () => {
  const change = await withFile(ics(event("DTSTART;VALUE=DATE:20261224")));
  expect(change).toMatchObject({
    type: "set",
    project: { calendars: { fair: { spans: [{ text: "Fair, all day" }], windows: [] } } },
  });
});

test.each([
  ["hello", 'config.toml:2:8  calendars.fair.file "fair.ics" is not a usable iCalendar file'],
  [ics(event("DTSTART:soon")), "is not a usable iCalendar file"],
  [ics("BEGIN:VEVENT", "UID:1", "END:VEVENT"), "is not a usable iCalendar file"],
])("the file of a calendar %j is refused", async (text, message) => {
  expect(refusal(await withFile(text))).toContain(message);
});

test("a changed .ics file is another config of the project", async () => {
  const dir = await directory({ "config.toml": config, "fair.ics": ics() });
  const before = resolveProject(await readProject(dir), filters);
  await writeFile(join(dir, "fair.ics"), ics(event("DTSTART;VALUE=DATE:20261224")));
  const after = resolveProject(await readProject(dir), filters);
  expect(JSON.stringify(after)).not.toBe(JSON.stringify(before));
});

test.each([
  ["[calendars.a]", "config.toml:1:1  calendars.a is empty; set file, dates or windows"],
  [
    '[calendars.a]\nfile = "a.ics"',
    'calendars.a.file "a.ics" is missing; put it beside config.toml',
  ],
  ['[calendars.a]\nfile = "../a.ics"', "expected an iCalendar file beside config.toml"],
  ['[calendars.a]\ndates = ["2026-02-30"]', 'calendars.a.dates[0] is "2026-02-30"; expected a day'],
  ["[calendars.a]\ndates = [2026-12-24]", "calendars.a.dates[0] is"],
  [
    '[calendars.a]\nwindows = ["Fri 18:00"]',
    'expected a time of each week, e.g. "Fri 18:00-Mon 06:00"',
  ],
  ['[calendars.a]\nwindows = ["Fri 24:30-Mon 06:00"]', "expected a time of each week"],
])("the calendar %j is refused", (text, message) => {
  expect(refusal(projectChange(text))).toContain(message);
});

test("a weekly time may end in the next week, or be the whole week", () => {
  const { calendars } = project(
    '[calendars.a]\nwindows = ["Sun 22:00-Mon 06:00", "Mon 00:00-Sun 24:00"]',
  );
  const hour = 3_600_000;
  expect(calendars.a?.windows).toMatchObject([
    { from: 166 * hour, until: 174 * hour },
    { from: 0, until: 168 * hour },
  ]);
  expect(said(projectChange('[calendars.a]\nwindows = ["Mon 00:00-Mon 00:00"]'))).toEqual([]);
});
