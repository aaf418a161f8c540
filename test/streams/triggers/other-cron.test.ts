import { Cron } from "croner";
import fc from "fast-check";
import { nextTick } from "../../../streams/triggers/next-tick.ts";

/** A field of a cron expression: any, a step, a range or a list. */
function field(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  return fc.oneof(
    fc.constant("*"),
    fc.integer({ min: 2, max: Math.floor(max / 2) }).map((step) => `*/${step}`),
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.uniqueArray(value, { minLength: 1, maxLength: 3 }).map((values) => values.join(",")),
  );
}

const expression = fc
  .tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
  .map((fields) => fields.join(" "));

const from = Date.UTC(2026, 0, 1);

test("the ticks of random schedules equal those of the library croner where no clock changes", () => {
  const zone = fc.constantFrom(
    "UTC",
    "Asia/Tokyo",
    "Asia/Kathmandu",
    "America/Bogota",
    "Africa/Lagos",
  );
  const start = fc.integer({ min: 0, max: 5 * 365 * 24 * 60 }).map((n) => from + n * 60_000);
  fc.assert(
    fc.property(expression, zone, start, (cron, timezone, after) => {
      const other = new Cron(cron, { timezone, mode: "5-part" });
      let [at, theirs]: [number, Date | null] = [after, new Date(after)];
      for (let n = 0; n < 3; n++) {
        at = nextTick({ expression: cron, timezone }, at) ?? 0;
        theirs = theirs && other.nextRun(theirs);
        expect(new Date(at).toISOString(), cron).toBe((theirs ?? new Date(0)).toISOString());
      }
    }),
    { numRuns: 200 },
  );
});

/** A tick of 2:30 or 0:30, by hand from the rules of each zone: a skipped time comes later by the skipped time. */
test.each([
  ["Europe/Berlin", "30 2 * * *", "2026-03-28T12:00Z", "2026-03-29T01:30Z"],
  ["Europe/Berlin", "30 2 * * *", "2026-10-24T12:00Z", "2026-10-25T00:30Z"],
  ["America/New_York", "30 2 * * *", "2026-03-07T12:00Z", "2026-03-08T07:30Z"],
  ["America/New_York", "30 1 * * *", "2026-10-31T12:00Z", "2026-11-01T05:30Z"],
  ["America/St_Johns", "30 2 * * *", "2026-03-07T12:00Z", "2026-03-08T06:00Z"],
  ["Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00Z", "2026-10-03T15:45Z"],
  ["Pacific/Chatham", "0 3 * * *", "2026-09-26T02:00Z", "2026-09-26T14:15Z"],
  ["Africa/Cairo", "30 0 * * *", "2026-04-23T12:00Z", "2026-04-23T22:30Z"],
  ["America/Havana", "30 0 * * *", "2026-03-07T12:00Z", "2026-03-08T05:30Z"],
  ["Africa/Casablanca", "30 2 * * *", "2026-02-14T12:00Z", "2026-02-15T01:30Z"],
])("a schedule in %s, %s, is due after %s at %s", (timezone, cron, after, due) => {
  expect(nextTick({ expression: cron, timezone }, Date.parse(after))).toBe(Date.parse(due));
});
