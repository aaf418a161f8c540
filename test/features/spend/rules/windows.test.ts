import fc from "fast-check";
import { createCalendar, windowsAt } from "../../../../src/features/spend/rules/accounts.ts";

const at = (iso: string) => Date.parse(iso);

test.each([
  ["Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29", "2026-03-29T22:00:00Z"],
  // The clock skips midnight: the day begins at one.
  ["America/Santiago", "2026-09-06T04:00:00Z", "2026-09-06", "2026-09-07T03:00:00Z"],
  // At midnight the clock goes back to eleven: the hour comes twice, the day ends once.
  ["America/Santiago", "2026-04-05T03:30:00Z", "2026-04-04", "2026-04-05T04:00:00Z"],
  // Samoa left out the 30th of December 2011.
  ["Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-29", "2011-12-30T10:00:00Z"],
  ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31", "2011-12-31T10:00:00Z"],
])("a budget in %s counts %s to the day %s, which ends at %s", (timezone, moment, key, end) => {
  const { day } = windowsAt(at(moment), timezone);
  expect([day.key, new Date(day.endsAt).toISOString().replace(".000", "")]).toEqual([key, end]);
});

test("a budget's month ends with its last day, also in December", () => {
  const { month } = windowsAt(at("2026-12-31T22:59:00Z"), "Europe/Berlin");
  expect(month).toEqual({ kind: "month", key: "2026-12", endsAt: at("2026-12-31T23:00:00Z") });
  const next = windowsAt(month.endsAt, "Europe/Berlin").month;
  expect(next).toMatchObject({ key: "2027-01", endsAt: at("2027-01-31T23:00:00Z") });
});

const zones = [
  "UTC",
  "Europe/Berlin",
  "America/Santiago",
  "America/Havana",
  "Asia/Beirut",
  "Africa/Cairo",
  "Atlantic/Azores",
  "Australia/Lord_Howe",
  "Antarctica/Troll",
  "Asia/Kathmandu",
  "Pacific/Apia",
  "Pacific/Chatham",
];

test("in any time zone a budget's day contains the given moment, and the next day begins exactly at its end", () => {
  const moment = fc.integer({ min: at("2005-01-01T00:00:00Z"), max: at("2035-01-01T00:00:00Z") });
  const calendar = createCalendar();
  fc.assert(
    fc.property(fc.constantFrom(...zones), moment, (timezone, now) => {
      const windows = calendar(now, timezone);
      expect(windows).toEqual(windowsAt(now, timezone));
      for (const kind of ["day", "month"] as const) {
        const { key, endsAt } = windows[kind];
        expect(endsAt).toBeGreaterThan(now);
        expect(windowsAt(endsAt - 1, timezone)[kind].key).toBe(key);
        expect(windowsAt(endsAt, timezone)[kind].key > key).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("the cached day of a budget is dropped when the clock leaves that day, forward or back", () => {
  const calendar = createCalendar();
  const noon = at("2026-11-22T12:00:00Z");
  const day = (now: number) => calendar(now, "UTC").day.key;
  expect([day(noon), day(noon + 43_200_000), day(noon - 43_200_001), day(noon)]).toEqual([
    "2026-11-22",
    "2026-11-23",
    "2026-11-21",
    "2026-11-22",
  ]);
});
