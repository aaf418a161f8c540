import fc from "fast-check";
import { countTicks } from "../../../streams/triggers/count-ticks.ts";
import type { Schedule } from "../../../streams/agent-config.ts";
import { nextTick } from "../../../streams/triggers/next-tick.ts";

const at = (iso: string): number => Date.parse(iso);
const dayMs = 86_400_000;

function stepped(schedule: Schedule, from: number, to: number): number {
  let count = 0;
  for (let tick = nextTick(schedule, from); tick !== null && tick <= to; count++) {
    tick = nextTick(schedule, tick);
  }
  return count;
}

test.each([
  ["*/15 9-17 * * MON", 5 * 36],
  ["0 9 L * *", 1],
  ["0 9 * * 1#1", 1],
])("the schedule %s has %i ticks in 30 days", (expression, count) => {
  const from = at("2026-11-22T12:00:30Z");
  expect(countTicks({ expression, timezone: "UTC" }, from, from + 30 * dayMs)).toBe(count);
});

test("countTicks returns the same number as stepping from tick to tick in the time zone", () => {
  const list = (min: number, max: number) =>
    fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 }).map(String);
  const or = (some: fc.Arbitrary<string>) => fc.oneof(fc.constant("*"), some);
  const expression = fc
    .tuple(list(0, 59), list(0, 23), or(list(1, 28)), or(list(1, 12)), or(list(0, 6)))
    .map((fields) => fields.join(" "));
  // Zones whose clock is not changed: an hour that comes twice is counted once.
  const timezone = fc.constantFrom("UTC", "Asia/Kathmandu", "America/Phoenix", "Asia/Tokyo");
  const from = fc.integer({ min: at("2026-01-01T00:00:00Z"), max: at("2027-01-01T00:00:00Z") });
  fc.assert(
    fc.property(expression, timezone, from, fc.integer({ min: 0, max: 40 * dayMs }), (...all) => {
      const [cron, zone, start, length] = all;
      const schedule = { expression: cron, timezone: zone };
      const end = start + length;
      expect(countTicks(schedule, start, end)).toBe(stepped(schedule, start, end));
    }),
    { numRuns: 300 },
  );
});

test("a daily schedule has 30 ticks in 30 days with a clock change", () => {
  const daily = { expression: "30 2 * * *", timezone: "Europe/Berlin" };
  for (const from of ["2026-03-10T12:00:00Z", "2026-10-10T12:00:00Z"]) {
    expect(countTicks(daily, at(from), at(from) + 30 * dayMs)).toBe(30);
  }
});
