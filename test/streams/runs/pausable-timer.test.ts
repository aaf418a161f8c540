import { BehaviorSubject, NEVER } from "rxjs";
import { pausableTimer } from "../../../streams/runs/pausable-timer.ts";
import { inVirtualTime, marbles, VirtualCalendar } from "../../helpers/marbles.ts";

const values = { t: true, f: false };

describe("a timer that can be paused", () => {
  test.each([
    ["fires when its time is up", "                      f", 5, "-----(x|)"],
    ["fires at once with a negative time", "             f", -3, "(x|)"],
    ["does not count while it is paused", "              f--t-----f", 5, "-----------(x|)"],
    ["adds up the time between pauses", "                f-t--f--t--f", 6, "------------(x|)"],
    ["does not fire before the first value of paused$", "-", 0, "-"],
  ])("%s", (_what, paused, leftMs, expected) =>
    marbles(({ cold, scheduler, expectObservable }) => {
      const paused$ = paused.trim().startsWith("-") ? NEVER : cold(paused, values);
      const out$ = pausableTimer(paused$, leftMs, scheduler);
      expectObservable(out$, "15ms !").toBe(expected, { x: undefined });
    }),
  );

  test(
    "does not fire early with a time above the limit of setTimeout",
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const out$ = pausableTimer(cold("f", values), 30 * 24 * 3_600_000, scheduler);
      expectObservable(out$, "1000m !").toBe("");
    }),
  );

  test("ignores changes of the wall clock", () => {
    const calendar = new VirtualCalendar("2026-03-01T00:00Z");
    const paused$ = new BehaviorSubject(false);
    const began = calendar.frame;
    const rang: number[] = [];
    const elapsed = (): number => calendar.frame;
    pausableTimer(paused$, 10_000, calendar, elapsed).subscribe(() =>
      rang.push(calendar.frame - began),
    );
    calendar.schedule(() => calendar.jump(3_600_000), 2_000);
    calendar.schedule(() => paused$.next(true), 4_000);
    calendar.schedule(() => paused$.next(false), 5_000);
    calendar.flush();
    expect(rang).toEqual([11_000]);
  });
});
