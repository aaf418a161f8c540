import fc from "fast-check";
import { nextTick } from "../../../streams/triggers/next-tick.ts";

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

type Plan = readonly [expression: string, isDue: (wall: number) => boolean, everyHour: boolean];

/** Schedules that are read without a parser. */
const plans: readonly Plan[] = [
  ["20 * * * *", (wall) => new Date(wall).getUTCMinutes() === 20, true],
  ["*/15 0-4 * * *", (wall) => wall % (15 * minuteMs) === 0 && wall % dayMs < 5 * hourMs, false],
];

interface Walk {
  readonly from: number;
  readonly wall: (at: number) => number;
  readonly isDue: Plan[1];
  readonly everyHour: boolean;
}

/** The due moments of three days. A skipped minute comes as long after the gap as it would have been in it. */
function walk({ from, wall, isDue, everyHour }: Walk): readonly number[] {
  const due = new Set<number>();
  for (let [at, latest] = [from + minuteMs, wall(from)]; at < from + 3 * dayMs; at += minuteMs) {
    const shown = wall(at);
    if (isDue(shown) && (shown > latest || everyHour)) due.add(at);
    for (let gap = latest + minuteMs; gap < shown; gap += minuteMs) {
      if (isDue(gap)) due.add(at + gap - latest - minuteMs);
    }
    latest = Math.max(latest, shown);
  }
  return [...due].sort((a, b) => a - b);
}

test("the next tick of a schedule can be on 29 February years ahead", () => {
  const after = Date.parse("2026-01-01T00:00:00Z");
  const tick = nextTick({ expression: "0 0 29 2 *", timezone: "UTC" }, after);
  expect(new Date(tick ?? 0).toISOString()).toBe("2028-02-29T00:00:00.000Z");
});

const oddZones = ["Australia/Lord_Howe", "Antarctica/Troll", "Pacific/Chatham", "America/St_Johns"];

test.each([...oddZones, "Europe/Berlin", "America/New_York", "Africa/Cairo", "Africa/Casablanca"])(
  "the next tick of a schedule equals a minute-by-minute search around each clock change in %s",
  (timezone) => {
    const shown = { timeZone: timezone, dateStyle: "short", timeStyle: "short" } as const;
    const format = new Intl.DateTimeFormat("sv-SE", shown);
    const wall = (at: number) => Date.parse(`${format.format(at).replace(" ", "T")}:00Z`);
    const days = Array.from({ length: 365 }, (_, n) => Date.UTC(2026, 0, n + 1, 0, 7));
    const changes = days.filter((day) => wall(day + dayMs) - wall(day) !== dayMs);
    expect(changes.length).toBeGreaterThan(1);
    for (const from of changes.map((day) => day - dayMs)) {
      for (const [expression, isDue, everyHour] of plans) {
        const due = walk({ from, wall, isDue, everyHour });
        for (const [n, tick] of due.entries()) {
          expect(nextTick({ expression, timezone }, due[n - 1] ?? from), expression).toBe(tick);
        }
      }
    }
  },
);

test("the next tick is always after the given moment, for random schedules", () => {
  const minute = fc.integer({ min: 0, max: 59 });
  const hour = fc.integer({ min: 0, max: 23 });
  const zone = fc.constantFrom(...oddZones, "UTC", "Europe/London", "America/New_York");
  const moment = fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2030, 0) });
  fc.assert(
    fc.property(minute, hour, zone, moment, (m, h, timezone, after) => {
      const next = nextTick({ expression: `${m} ${h} * * *`, timezone }, after);
      return next !== null && next > after && next - after <= 50 * hourMs;
    }),
    { numRuns: 300 },
  );
});
