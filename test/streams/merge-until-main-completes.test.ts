import { of, Subject } from "rxjs";
import { mergeUntilMainCompletes } from "../../streams/merge-until-main-completes.ts";
import { inVirtualTime } from "../helpers/marbles.ts";

test(
  "mergeUntilMainCompletes ends when the main stream ends, and not before",
  inVirtualTime(({ hot, expectObservable, expectSubscriptions }) => {
    const main = "    --m---m--|";
    const beside = "  b---b-|";
    const longer = "  b---b-----b";
    expectObservable(mergeUntilMainCompletes(hot(main), hot(beside))).toBe("b-m-b-m--|");
    const beside$ = hot(longer);
    expectObservable(mergeUntilMainCompletes(hot(main), beside$)).toBe("    b-m-b-m--|");
    expectSubscriptions(beside$.subscriptions).toBe("         ^--------!");
  }),
);

test("mergeUntilMainCompletes emits the other stream's value first if both emit at once", () => {
  const seen: string[] = [];
  mergeUntilMainCompletes(of("main"), of("beside")).subscribe((value) => seen.push(value));
  expect(seen).toEqual(["beside", "main"]);
});

test(
  "mergeUntilMainCompletes forwards an error of either stream, and unsubscribes from both",
  inVirtualTime(({ hot, expectObservable, expectSubscriptions }) => {
    const steady$ = hot("a-a--a");
    expectObservable(mergeUntilMainCompletes(hot("---#"), steady$)).toBe("a-a#");
    expectObservable(mergeUntilMainCompletes(steady$, hot("---#"))).toBe("a-a#");
    expectSubscriptions(steady$.subscriptions).toBe(["^--!", "^--!"]);
  }),
);

test("mergeUntilMainCompletes unsubscribes from both streams when it is unsubscribed", () => {
  const [main$, beside$] = [new Subject<string>(), new Subject<string>()];
  const subscription = mergeUntilMainCompletes(main$, beside$).subscribe();
  subscription.unsubscribe();
  expect([main$.observed, beside$.observed]).toEqual([false, false]);
});
