import { calendarsOf } from "../../../src/foundation/config/calendars.ts";
import { leftOutAt, type Calendar } from "../../../streams/triggers/calendar.ts";
import { limited, nextRun, upcoming } from "../../../streams/triggers/next-run.ts";

const at = (moment: string): number => Date.parse(moment);
const iso = (moment: number): string => new Date(moment).toISOString().slice(0, 16);

/** A calendar as the project's config has it. */
function calendar(dates: readonly string[], windows: readonly string[]): Calendar {
  const tables = { one: { dates: [...dates], windows: [...windows] } };
  return calendarsOf(tables, new Map()).one ?? { spans: [], windows: [] };
}

const days = (...dates: readonly string[]): Calendar => calendar(dates, []);
const weekly = (...windows: readonly string[]): Calendar => calendar([], windows);

/** The first moment that is left out and the first that no longer is, in UTC. */
type Bounds = readonly [zone: string, from: string, until: string];

/** Made by hand from the rules of each zone: 25 October 2026 is the day of the change in Europe, and so on. */
const dayBounds: readonly Bounds[] = [
  ["Europe/Berlin", "2026-10-24T22:00", "2026-10-25T23:00"],
  ["Europe/Berlin", "2026-03-28T23:00", "2026-03-29T22:00"],
  ["America/New_York", "2026-03-08T05:00", "2026-03-09T04:00"],
  ["America/New_York", "2026-11-01T04:00", "2026-11-02T05:00"],
  ["America/St_Johns", "2026-03-08T03:30", "2026-03-09T02:30"],
  ["Australia/Lord_Howe", "2026-04-04T13:00", "2026-04-05T13:30"],
  ["Pacific/Chatham", "2026-09-26T11:15", "2026-09-27T10:15"],
  // Clocks go from 00:00 to 01:00, so the day has no midnight.
  ["Africa/Cairo", "2026-04-23T22:00", "2026-04-24T21:00"],
  // Clocks go from 24:00 back to 23:00, so the day has 25 hours.
  ["Africa/Cairo", "2026-10-28T21:00", "2026-10-29T22:00"],
  ["America/Havana", "2026-11-01T04:00", "2026-11-02T05:00"],
  ["Asia/Kathmandu", "2026-05-04T18:15", "2026-05-05T18:15"],
];

/** The minutes from `from` on and before `until`, both in UTC, are left out, and those around them are not. */
function expectLeftOut(use: Parameters<typeof leftOutAt>[0], from: string, until: string): void {
  const [start, end] = [at(`${from}:00Z`), at(`${until}:00Z`)];
  const edges = [start - 60_000, start, end - 60_000, end];
  expect(edges.map((moment) => leftOutAt(use, moment) !== null)).toEqual([
    false,
    true,
    true,
    false,
  ]);
}

/** The day in a zone of which the bounds are. */
const dayIn = (zone: string, moment: string): string =>
  new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" }).format(
    at(`${moment}:00Z`),
  );

test.each(dayBounds)(
  "a day of a calendar in %s begins at %s and ends at %s UTC",
  (zone, from, until) => {
    const use = { skip: [["day", days(dayIn(zone, from))] as const], only: [], timezone: zone };
    expectLeftOut(use, from, until);
    expect(leftOutAt(use, at(`${from}:00Z`))?.until).toBe(at(`${until}:00Z`));
  },
);

const weekend = "Fri 18:00-Mon 06:00";

test.each<Bounds>([
  ["Europe/Berlin", "2026-03-27T17:00", "2026-03-30T04:00"],
  ["Europe/Berlin", "2026-10-23T16:00", "2026-10-26T05:00"],
  ["America/New_York", "2026-03-06T23:00", "2026-03-09T10:00"],
  ["America/St_Johns", "2026-10-30T20:30", "2026-11-02T09:30"],
  ["Australia/Lord_Howe", "2026-04-03T07:00", "2026-04-05T19:30"],
  ["Pacific/Chatham", "2026-09-25T05:15", "2026-09-27T16:15"],
  ["Africa/Cairo", "2026-04-24T15:00", "2026-04-27T03:00"],
  ["America/Havana", "2026-03-06T23:00", "2026-03-09T10:00"],
])(
  "a weekly time of a calendar in %s lasts from %s to %s UTC over a clock change",
  (zone, from, until) => {
    const use = { skip: [["weekend", weekly(weekend)] as const], only: [], timezone: zone };
    expectLeftOut(use, from, until);
  },
);

const calendars = {
  xmas: days("2026-12-25", "2026-12-26"),
  office: weekly("Mon 09:00-Mon 17:00", "Wed 09:00-Wed 17:00"),
  weekend: weekly(weekend),
  always: weekly("Mon 00:00-Mon 00:00"),
  past: days("2020-01-01"),
};

function schedule(expression: string, skip: readonly string[], only: readonly string[] = []) {
  const entry = { name: "a", expression, timezone: "UTC", prompt: null, params: {} };
  return limited({ ...entry, calendar: { skip, only } }, calendars);
}

test.each<[what: string, ReturnType<typeof schedule>, from: string, next: string | null]>([
  ["skips days", schedule("0 9 * * *", ["xmas"]), "2026-12-24T10:00", "2026-12-27T09:00"],
  [
    "waits for a time of only",
    schedule("0 * * * *", [], ["office"]),
    "2026-12-21T16:30",
    "2026-12-23T09:00",
  ],
  [
    "begins with the first minute of only",
    schedule("* * * * *", [], ["office"]),
    "2026-12-24T00:00",
    "2026-12-28T09:00",
  ],
  [
    "obeys skip within only",
    schedule("0 9 * * *", ["xmas"], ["office", "xmas"]),
    "2026-12-24T00:00",
    "2026-12-28T09:00",
  ],
  [
    "is due at the end of a skipped time",
    schedule("0 6,7 * * *", ["weekend"]),
    "2026-12-25T17:00",
    "2026-12-28T06:00",
  ],
  [
    "is never due if all times are skipped",
    schedule("0 9 * * *", ["always"]),
    "2026-12-25T17:00",
    null,
  ],
  [
    "is never due once only has no further day",
    schedule("0 9 * * *", [], ["past"]),
    "2026-12-25T17:00",
    null,
  ],
  [
    "ignores days of the past",
    schedule("0 9 * * *", ["past"]),
    "2026-12-25T17:00",
    "2026-12-26T09:00",
  ],
])("a schedule with calendars %s", (_what, limitedSchedule, from, next) => {
  const found = nextRun(limitedSchedule, at(`${from}:00Z`));
  expect(found && iso(found)).toBe(next);
});

test("the preview of a schedule counts what a calendar leaves out, once for each reason", () => {
  const rows = [
    ...upcoming(
      schedule("0 */6 * * *", ["xmas"]),
      at("2026-12-24T17:00Z"),
      at("2026-12-27T07:00Z"),
    ),
  ];
  const lines = rows.map(({ at: moment, leftOut }) => {
    if (leftOut === null) return iso(moment);
    return `${iso(moment)} ${leftOut.count} until ${iso(leftOut.until)}, ${leftOut.why}`;
  });
  expect(lines).toEqual([
    "2026-12-24T18:00",
    "2026-12-25T00:00 4 until 2026-12-26T00:00, calendar xmas: 2026-12-25",
    "2026-12-26T00:00 4 until 2026-12-27T00:00, calendar xmas: 2026-12-26",
    "2026-12-27T00:00",
    "2026-12-27T06:00",
  ]);
});

test("the next run of a schedule of every minute after a year that is left out is found without visiting each minute", () => {
  const year = {
    from: at("2027-01-01"),
    until: at("2028-01-01"),
    isLocal: true,
    text: "sabbatical",
  };
  const entry = {
    name: "a",
    expression: "* * * * *",
    timezone: "Europe/Berlin",
    prompt: null,
    params: {},
  };
  let steps = 0;
  const { leftOut, ...rest } = limited(
    { ...entry, calendar: { skip: ["year"], only: [] } },
    { year: { spans: [year], windows: [] } },
  );
  const counting = (moment: number) => {
    steps++;
    return leftOut?.(moment) ?? null;
  };
  const next = nextRun({ ...rest, leftOut: counting }, at("2027-01-01T00:00Z"));
  expect(next && iso(next)).toBe("2027-12-31T23:00");
  expect(steps).toBeLessThan(5);
});
