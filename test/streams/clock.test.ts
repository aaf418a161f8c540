import { createClock } from "../../streams/clock.ts";
import { VirtualCalendar } from "../helpers/marbles.ts";

const start = "2026-03-01T00:00:00Z";
const at = (time: string): number => Date.parse(time);

test("the clock emits in the order of moments, whatever order they were requested in", () => {
  const calendar = new VirtualCalendar(start);
  const clock = createClock(calendar);
  const woken: string[] = [];
  for (const hour of ["05", "01", "03", "02", "04"]) {
    clock.at(at(`2026-03-01T${hour}:00:00Z`)).subscribe(() => woken.push(hour));
  }
  calendar.runUntil("2026-03-02T00:00:00Z");
  expect(woken).toEqual(["01", "02", "03", "04", "05"]);
});

test("the clock emits at the moment, not earlier, and completes", () => {
  const calendar = new VirtualCalendar(start);
  const clock = createClock(calendar);
  const seen: unknown[] = [];
  clock.at(at("2026-03-01T00:00:01.500Z")).subscribe({
    next: (now) => seen.push(new Date(now).toISOString()),
    complete: () => seen.push("complete"),
  });
  calendar.runUntil("2026-03-01T00:00:01.499Z");
  expect(seen).toEqual([]);
  calendar.runUntil("2026-03-01T00:00:02Z");
  expect(seen).toEqual(["2026-03-01T00:00:01.500Z", "complete"]);
});

test("the clock waits for moments further away than the longest timer of 24.8 days", () => {
  const calendar = new VirtualCalendar(start);
  const clock = createClock(calendar);
  let woken = 0;
  clock.at(at("2026-09-01T00:00:00Z")).subscribe((now) => (woken = now));
  calendar.runUntil("2026-08-31T23:59:59Z");
  expect(woken).toBe(0);
  calendar.runUntil("2026-09-01T00:00:01Z");
  expect(woken).toBe(at("2026-09-01T00:00:00Z"));
});

test("the clock arms one timer for any number of subscribers", () => {
  const calendar = new VirtualCalendar(start);
  const clock = createClock(calendar);
  for (let i = 0; i < 1000; i++) clock.at(at("2026-03-01T00:00:10Z") + i).subscribe();
  expect(calendar.scheduled).toBe(1);
});

test("the clock notices within half a minute that the machine slept through a moment", () => {
  const calendar = new VirtualCalendar(start);
  const clock = createClock(calendar);
  let woken = 0;
  clock.at(at("2026-03-01T06:00:00Z")).subscribe((now) => (woken = now));
  calendar.runUntil("2026-03-01T01:00:00Z");
  calendar.jump(8 * 3_600_000);
  calendar.runUntil("2026-03-01T09:00:31Z");
  expect(woken).toBeGreaterThanOrEqual(at("2026-03-01T09:00:00Z"));
  expect(woken).toBeLessThanOrEqual(at("2026-03-01T09:00:30Z"));
});

test("the clock forgets an unsubscribed one, and continues for the others", () => {
  const calendar = new VirtualCalendar(start);
  const clock = createClock(calendar);
  const woken: string[] = [];
  const moments = ["01", "02", "03", "04", "05", "06", "07"];
  const waits = moments.map((hour) =>
    clock.at(at(`2026-03-01T${hour}:00:00Z`)).subscribe(() => woken.push(hour)),
  );
  for (const index of [0, 3, 6]) waits[index]?.unsubscribe();
  calendar.runUntil("2026-03-02T00:00:00Z");
  expect(woken).toEqual(["02", "03", "05", "06"]);
});

test("the clock emits asynchronously even for a moment that has passed, and again for a new subscriber", () => {
  const calendar = new VirtualCalendar(start);
  const wait = createClock(calendar).at(at("2026-02-01T00:00:00Z"));
  let woken = 0;
  wait.subscribe(() => woken++);
  expect(woken).toBe(0);
  calendar.runUntil("2026-03-01T00:00:01Z");
  wait.subscribe(() => woken++);
  calendar.runUntil("2026-03-01T00:00:02Z");
  expect(woken).toBe(2);
});
