import { BehaviorSubject, NEVER } from "rxjs";
import { pausableTimer } from "../../../streams/runs/pausable-timer.ts";
import { inVirtualTime, marbles, VirtualCalendar } from "../../helpers/marbles.ts";

const values = { t: true, f: false };

describe("a timer that can be paused", () => {
  test.each([
    ["rings when its time is up", "              f", 5, "-----(x|)"],
    ["rings at once when nothing is left", "      f", 0, "(x|)"],
    ["rings at once when less than nothing is", " f", -3, "(x|)"],
    ["does not count while it is paused", "          f--t-----f", 5, "-----------(x|)"],
    ["begins to count when it first runs", "      t----f", 3, "--------(x|)"],
    ["counts what went between many pauses", "    f-t--f--t--f", 6, "------------(x|)"],
    ["minds repeated news as little as none", "   f-f-t-t--f-f", 4, "---------(x|)"],
    ["says nothing before it heard anything", "-", 0, "-"],
    ["never rings while it is paused", "             f-t", 3, "-"],
  ])("%s", (_what, paused, leftMs, expected) =>
    marbles(({ cold, scheduler, expectObservable }) => {
      const paused$ = paused.trim().startsWith("-") ? NEVER : cold(paused, values);
      const out$ = pausableTimer(paused$, leftMs, scheduler);
      expectObservable(out$, "15ms !").toBe(expected, { x: undefined });
    }),
  );

  test(
    "does not fire at once for a time that a timer can't hold",
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const out$ = pausableTimer(cold("f", values), 30 * 24 * 3_600_000, scheduler);
      expectObservable(out$, "1000m !").toBe("");
    }),
  );

  test("counts the same when the wall clock is set meanwhile", () => {
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

  test(
    "forwards an error, and starts anew for each subscriber",
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const paused$ = cold("f--#", values);
      const out$ = pausableTimer(paused$, 5, scheduler);
      const short$ = pausableTimer(paused$, 2, scheduler);
      expectObservable(out$).toBe("---#");
      expectObservable(short$, "-!").toBe("-");
      expectObservable(short$, "----^").toBe("------(x|)", { x: undefined });
      expectSubscriptions(paused$.subscriptions).toBe(["^--!", "^!", "----^-!"]);
    }),
  );
});
