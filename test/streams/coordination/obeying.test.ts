import { concat, timer } from "rxjs";
import { describe, it } from "vitest";
import { obeying } from "../../../streams/coordination/obeying.ts";
import { marbles } from "../../helpers/marbles.ts";

describe("an operator that obeys commands", () => {
  /** Says a command 6 frames later, but `x` twice and at once. */
  const late = obeying<string, string>(({ say, owned }) => (command) => {
    if (command !== "x") return void owned(timer(6).subscribe(() => say(command)));
    say("x");
    say("x");
  });

  it("says what it has to say of a command, at once or later", () => {
    marbles(({ cold, expectObservable }) => {
      const command$ = cold("  a-x-----b------");
      const expected = "       --(xx)a-------b";
      expectObservable(command$.pipe(late)).toBe(expected);
    });
  });

  it("says nothing more when there are no more commands", () => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold("a---|  ").pipe(late)).toBe("----|  ");
      expectObservable(cold("a---#  ").pipe(late)).toBe("----#  ");
    });
  });

  it("leaves no timer behind when it is unsubscribed", () => {
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const command$ = hot("   a-----------");
      const timer$ = cold("     ---------t ");
      const timed = obeying<string, string>(({ say, owned }) => () => {
        owned(timer$.subscribe(say));
      });
      expectObservable(command$.pipe(timed), "^---!").toBe("------");
      expectSubscriptions(timer$.subscriptions).toBe("     ^---!");
    });
  });

  it("begins anew for each subscription", () => {
    marbles(({ cold, expectObservable }) => {
      const counted = obeying<string, string>(({ say }) => {
        let count = 0;
        return () => say(String(++count));
      });
      const command$ = cold("  a-a|").pipe(counted);
      expectObservable(concat(command$, command$)).toBe("1-21-2|");
    });
  });
});
