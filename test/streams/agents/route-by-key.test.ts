import { routeByKey } from "../../../streams/agents/route-by-key.ts";
import { inVirtualTime, marbles } from "../../helpers/marbles.ts";

const toLower = (letter: string): string => letter.toLowerCase();

interface Row {
  readonly source: string;
  readonly a: string;
  readonly b?: string;
  readonly unrouted: string;
  /** When the reader of `a` listens. */
  readonly listens?: string;
  /** When a second reader of `a` listens, and the values that it gets. */
  readonly again?: readonly [listens: string, values: string];
}

describe("routing by key", () => {
  test.each<[name: string, row: Row]>([
    [
      "emits each value in the stream of its key, or as unrouted if that has no reader",
      { source: "-a-b-A-c-|", a: "-a---A---|", b: "---b-----|", unrouted: "-------c-|" },
    ],
    [
      "emits values as unrouted before a reader subscribes and after it unsubscribes",
      { source: "-a-a-a-a", a: "---a-a", listens: "--^---!", unrouted: "-a-----a" },
    ],
    [
      "emits a value to all readers of its key",
      { source: "-a-a-a", a: "-a-a-a", again: ["--^-!", "---a"], unrouted: "-" },
    ],
    ["completes all streams with its source", { source: "--|", a: "--|", unrouted: "--|" }],
    [
      "forwards an error to all streams",
      { source: "-a-#", a: "-a-#", b: "---#", unrouted: "---#" },
    ],
  ])("%s", (_name, { source, a, b, unrouted, listens, again }) =>
    marbles(({ hot, expectObservable }) => {
      const source$ = hot(source);
      const { to, unrouted$ } = routeByKey(source$, toLower);
      expectObservable(to("a"), listens).toBe(a);
      if (again !== undefined) expectObservable(to("a"), again[0]).toBe(again[1]);
      if (b !== undefined) expectObservable(to("b")).toBe(b);
      expectObservable(unrouted$).toBe(unrouted);
    }),
  );

  test(
    "unsubscribes from its source when it is unsubscribed, and routes again when subscribed again",
    inVirtualTime(({ hot, expectObservable, expectSubscriptions }) => {
      const letter$ = hot("         -a-a-a-a");
      const { to, unrouted$ } = routeByKey(letter$, toLower);
      const first = "               ^-!";
      const second = "              ------^-!";
      expectObservable(to("a")).toBe("-a-----a");
      expectObservable(unrouted$, first).toBe("-");
      expectObservable(unrouted$, second).toBe("-");
      expectSubscriptions(letter$.subscriptions).toBe([first, second]);
    }),
  );
});
