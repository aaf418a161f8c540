import { createClock } from "../../streams/clock.ts";
import { VirtualCalendar } from "../helpers/marbles.ts";

/** A clock at the start of March, and the waits that it woke: each by its time, with the time on the clock. */
function setUp() {
  const calendar = new VirtualCalendar("2026-03-01T00:00:00.000Z");
  const clock = createClock(calendar);
  const woken: string[][] = [];
  const wait = (time: string) =>
    clock.at(Date.parse(time)).subscribe((now) => woken.push([time, new Date(now).toISOString()]));
  return { calendar, clock, woken, wait };
}

const hour = (n: number) => `2026-03-01T0${n}:00:00.000Z`;

test.each([
  ["2026-03-01T00:00:01.500Z", "2026-03-01T00:00:01.499Z"],
  // Further away than the longest timer, of 24.8 days.
  ["2026-09-01T00:00:00.000Z", "2026-08-31T23:59:59.999Z"],
])("the clock emits a moment at %s, not earlier, and completes", (time, before) => {
  const { calendar, clock } = setUp();
  const seen: unknown[] = [];
  const complete = () => seen.push("complete");
  clock.at(Date.parse(time)).subscribe({ next: (now) => seen.push(now), complete });
  calendar.runUntil(before);
  expect(seen).toEqual([]);
  calendar.runUntil(time);
  expect(seen).toEqual([Date.parse(time), "complete"]);
});

test("the clock arms one timer for any number of subscribers", () => {
  const { calendar, clock } = setUp();
  for (let i = 0; i < 1000; i++) clock.at(calendar.now() + 10_000 + i).subscribe();
  expect(calendar.scheduled).toBe(1);
});

test("the clock emits a moment that passed while the machine slept within half a minute", () => {
  const { calendar, woken, wait } = setUp();
  wait(hour(6));
  calendar.runUntil(hour(1));
  calendar.jump(8 * 3_600_000);
  calendar.runUntil("2026-03-01T09:00:31Z");
  expect(woken).toEqual([[hour(6), expect.stringMatching(/T09:00:([0-2]\d|30\.000)/)]]);
});

test("the clock emits moments in chronological order, and none to an unsubscribed subscriber", () => {
  const { calendar, woken, wait } = setUp();
  const waits = [5, 1, 3, 7, 2, 4, 6].map((n) => wait(hour(n)));
  for (const index of [1, 3, 5]) waits[index]?.unsubscribe();
  calendar.runUntil(hour(9));
  expect(woken.map(([time]) => time)).toEqual([2, 3, 5, 6].map(hour));
});

test("the clock emits asynchronously even for a moment that has passed, and again for a new subscriber", () => {
  const { calendar, clock } = setUp();
  const past$ = clock.at(Date.parse("2026-02-01T00:00:00Z"));
  let woken = 0;
  for (const n of [1, 2]) {
    past$.subscribe(() => woken++);
    expect(woken).toBe(n - 1);
    calendar.runUntil(hour(n));
    expect(woken).toBe(n);
  }
});
