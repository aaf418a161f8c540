import { concat, map, NEVER, of, take, throwError } from "rxjs";
import type { Observable } from "rxjs";
import { inVirtualTime } from "../../helpers/marbles.ts";
import { expectQueue, held, open, queue, type Told } from "./queue-drawing.ts";

describe("an agent's bounded queue", () => {
  test("runs as many items at once as its scale", () =>
    expectQueue(open(9, 2), { items: "-abc-----------|", ran: "-AB---C--------|" }));

  test("drops the oldest trigger when full", () =>
    expectQueue(open(1, 1), {
      items: "  -abcd-----|",
      dropped: "---bc------|",
      ran: "    -A----D----|",
    }));

  test("emits its size after each change", () =>
    expectQueue(open(9, 1), { items: "-abc-----------|", depth: "--12--1----0----|" }));

  test("drops the oldest items when its size shrinks", () =>
    expectQueue(
      { o: open(2, 1), s: open(1, 1) },
      { items: "-abc", limits: "o---s", dropped: "----b" },
    ));

  test(
    "starts no more items once it is unsubscribed during a burst",
    inVirtualTime((helpers) => {
      const limits$ = helpers.hot("h----o", { h: held(9), o: open(9, 9) });
      const started: string[] = [];
      const run = (item: string): Observable<Told> => {
        started.push(item);
        return of({ type: "ran", item });
      };
      const ran$ = queue(helpers, helpers.hot("-abcd"), limits$, "ran", { run }).pipe(take(2));
      helpers.expectObservable(ran$).toBe("-----(AB|)");
      helpers.flush();
      expect(started).toEqual(["a", "b"]);
    }),
  );

  test(
    "forwards an error of its source, its limits and its runs, and aborts its runs",
    inVirtualTime((helpers) => {
      const run$ = helpers.cold<Told>("----------|");
      const broken$ = throwError(() => "error");
      const out$ = queue(helpers, helpers.hot("-a--#"), open(1, 1), "ran", { run: () => run$ });
      helpers.expectObservable(out$).toBe("----#");
      helpers.expectSubscriptions(run$.subscriptions).toBe("-^--!");
      helpers.expectObservable(queue(helpers, NEVER, broken$)).toBe("#");
      const byRun$ = queue(helpers, of("a"), open(1, 1), "ran", { run: () => broken$ });
      helpers.expectObservable(byRun$).toBe("#");
    }),
  );

  test("lets waiting items be withdrawn, and leaves running ones alone", () =>
    expectQueue(open(9, 1), {
      items: "  -abcd|",
      ran: "    -A----B----D----|",
      dropped: "-----c----------|",
      more: ({ hot }) => ({
        withdraw$: hot("--a--c---x-|").pipe(
          map((letter) => ({ why: "withdrawn", isMeant: (item: string) => item === letter })),
        ),
      }),
    }));

  test(
    "starts ten thousand waiting items that finish at once without growing the stack",
    inVirtualTime((helpers) => {
      const names = Array.from({ length: 10_000 }, (_, index) => String(index));
      const limits$ = helpers.hot("ho", { h: held(10_000), o: open(10_000, 1) });
      let ran = 0;
      const run = (item: string): Observable<Told> => of({ type: "ran", item });
      queue(helpers, concat(of(...names), NEVER), limits$, "ran", { run }).subscribe(() => ran++);
      helpers.flush();
      expect(ran).toBe(10_000);
    }),
  );
});
