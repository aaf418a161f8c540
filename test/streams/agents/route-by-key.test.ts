import { map } from "rxjs";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { routeByKey } from "../../../streams/agents/route-by-key.ts";
import type { Routes } from "../../../streams/agents/route-by-key.ts";
import { marbles } from "../../helpers/marbles.ts";

/** A letter is addressed to itself, whether it is small or a capital. */
const routes = (letter$: Observable<string>): Routes<string> =>
  routeByKey(letter$, (letter) => letter.toLowerCase());

describe("routing by key", () => {
  it("hands each value to the stream of its key, and emits what nobody is there for", () =>
    marbles(({ hot, expectObservable }) => {
      const { to, unrouted$ } = routes(hot("-a-b-A-c-|"));
      expectObservable(to("a")).toBe("      -a---A---|");
      expectObservable(to("b")).toBe("      ---b-----|");
      expectObservable(unrouted$).toBe("    -------c-|");
    }));

  it("emits what comes before somebody listens and after he left", () =>
    marbles(({ hot, expectObservable }) => {
      const { to, unrouted$ } = routes(hot("-a-a-a-a-"));
      const listens = "                      --^---!";
      expectObservable(to("a"), listens).toBe("---a-a");
      expectObservable(unrouted$).toBe("       -a-----a-");
    }));

  it("hands a value to all who listen to its key", () =>
    marbles(({ hot, expectObservable }) => {
      const { to, unrouted$ } = routes(hot("-a-a-a-"));
      expectObservable(to("a")).toBe("         -a-a-a-");
      expectObservable(to("a"), "--^-!").toBe("---a");
      expectObservable(unrouted$).toBe("       -------");
    }));

  it("routes again for one who comes back", () =>
    marbles(({ hot, expectObservable }) => {
      const { to, unrouted$ } = routes(hot("  -a---a---a-"));
      expectObservable(to("a"), "^--!").toBe("      -a");
      expectObservable(to("a"), "-------^").toBe("  ---------a-");
      expectObservable(unrouted$).toBe("         -----a-----");
    }));

  it("keeps the order of a burst within each key", () =>
    marbles(({ hot, expectObservable }) => {
      const { to, unrouted$ } = routes(hot("-(abAcBa)-"));
      expectObservable(to("a")).toBe("         -(aAa)-");
      expectObservable(to("b")).toBe("         -(bB)-");
      expectObservable(unrouted$).toBe("       -c-");
    }));

  it("completes everything with an empty source", () =>
    marbles(({ hot, expectObservable }) => {
      const { to, unrouted$ } = routes(hot("--|"));
      expectObservable(to("a")).toBe("      --|");
      expectObservable(unrouted$).toBe("    --|");
    }));

  it("passes an error to everybody", () =>
    marbles(({ hot, expectObservable }) => {
      const { to, unrouted$ } = routes(hot("-a-#"));
      expectObservable(to("a")).toBe("      -a-#");
      expectObservable(to("b")).toBe("      ---#");
      expectObservable(unrouted$).toBe("    ---#");
    }));

  it("leaves its source when the driver is unsubscribed, and goes on when it is back", () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const letter$ = hot("         -a-a-a-a-");
      const { to, unrouted$ } = routes(letter$);
      const first = "               ^-!";
      const second = "              ------^-!";
      expectObservable(to("a")).toBe("-a-----a-");
      expectObservable(unrouted$, first).toBe("-");
      expectObservable(unrouted$, second).toBe("-");
      expectSubscriptions(letter$.subscriptions).toBe([first, second]);
    }));

  it("asks only the listener of the key, however many there are", () =>
    marbles(({ hot, flush }) => {
      let asked = 0;
      const { to, unrouted$ } = routes(hot("-a-----"));
      for (let index = 0; index < 1000; index++) {
        to(index === 500 ? "a" : `k${index}`)
          .pipe(map(() => asked++))
          .subscribe();
      }
      unrouted$.subscribe();
      flush();
      expect(asked).toBe(1);
    }));
});
