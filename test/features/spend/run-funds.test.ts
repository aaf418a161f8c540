import { createClock } from "../../../streams/clock.ts";
import { followFunds, type RunFunds } from "../../../src/features/spend/run-funds.ts";
import { marbles } from "../../helpers/marbles.ts";

const short = (text: string, endsAt: number | null = null): RunFunds => ({
  type: "short",
  endsAt,
  text,
});
const values = { d: short("day", 4), m: short("month", 40), r: short("run"), p: { type: "paid" } };

/** The state at each moment: the latest one that has begun. */
function looks(now: () => number, found: Readonly<Record<number, keyof typeof values>>) {
  return (): RunFunds => {
    const [, name] = Object.entries(found).findLast(([at]) => Number(at) <= now()) ?? [];
    if (name === undefined) throw new Error("nothing is found yet");
    return values[name] as RunFunds;
  };
}

test.each([
  ["are available at once when nothing is short", { 0: "p" }, "-", "(p|)"],
  ["become available when the limit's window turns", { 0: "d", 4: "p" }, "-", "d---(p|)"],
  ["become available when the limit is raised", { 0: "r", 2: "p" }, "--x", "r-(p|)"],
  ["stay short after a raise that is not enough", { 0: "r", 6: "p" }, "--x---x", "r-----(p|)"],
  [
    "become available once a second limit pays, too",
    { 0: "d", 4: "m", 8: "p" },
    "--x-----x",
    "d---m---(p|)",
  ],
] as const)("the funds of a run that waits for budget %s", (_when, found, changed, expected) =>
  marbles(({ cold, scheduler, expectObservable }) => {
    const changed$ = cold(`${changed}${"-".repeat(20)}`);
    const look = looks(() => scheduler.now(), found);
    expectObservable(followFunds(look, changed$, createClock(scheduler)), "^------------!").toBe(
      expected,
      values,
    );
  }),
);

test("a run that no longer waits for funds stops checking its limits", () =>
  marbles(({ cold, scheduler, flush }) => {
    let looked = 0;
    const look = (): RunFunds => {
      looked++;
      return short("day", 10);
    };
    const funds$ = followFunds(look, cold("x-x-x-x-x"), createClock(scheduler));
    const subscription = funds$.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), 3);
    flush();
    expect(looked).toBe(3);
  }));
