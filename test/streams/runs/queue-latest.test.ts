import { concat, EMPTY, map, NEVER, of, take, throwError, timer } from "rxjs";
import type { Observable } from "rxjs";
import { createSlots } from "../../../streams/runs/slots.ts";
import { queueLatest } from "../../../streams/runs/queue-latest.ts";
import { inVirtualTime } from "../../helpers/marbles.ts";
import { closed, expectQueue, held, open, queue, type Told } from "./queue-drawing.ts";

describe("an agent's bounded queue", () => {
  test("completes with an empty source", () =>
    expectQueue(open(1, 1), { items: "---|", ran: "---|" }));

  test(
    "passes values of another stream through in order, until it completes",
    inVirtualTime((helpers) => {
      const told: Told = { type: "ran", item: "through" };
      const value$ = helpers.hot<string | Told>("-at--|", { a: "a", t: told });
      const operator = queueLatest<string, Told>({
        limits$: of(open(1, 1)),
        slots: createSlots(),
        isItem: (value) => typeof value === "string",
        isTick: () => false,
        mayWait: () => true,
        late: (item) => item,
        run: (item) => timer(5, helpers.scheduler).pipe(map((): Told => ({ type: "ran", item }))),
        report: (event) => event,
      });
      const said$ = value$.pipe(
        operator,
        map((each) => ("item" in each ? each.item.charAt(0) : each.type)),
      );
      helpers.expectObservable(said$).toBe("--t---(a|)");
    }),
  );

  test("runs one item at a time, in order, and finishes waiting items after its source completed", () =>
    expectQueue(open(9, 1), { items: "-abc|", ran: "-A----B----C----|" }));

  test("runs as many items at once as its scale", () =>
    expectQueue(open(9, 2), { items: "-abc-|", ran: "-AB---C----|" }));

  test("drops the oldest trigger when full", () =>
    expectQueue(open(1, 1), {
      items: "  -abcd-----|",
      dropped: "---bc------|",
      ran: "    -A----D----|",
    }));

  test("emits its size after each change", () =>
    expectQueue(open(9, 1), { items: "-abc-----------|", depth: "--12--1----0----|" }));

  test(
    "runs the latest items of a burst in order",
    inVirtualTime((helpers) => {
      const ran$ = queue(helpers, of("a", "b", "c", "d", "e", "f", "g", "h"), open(2, 1));
      helpers.expectObservable(ran$).toBe("A----G----H----|");
    }),
  );

  test("skips an item that may not wait when all runners are busy", () =>
    expectQueue(open(9, 1), {
      items: "  -ab----c-----|",
      skipped: "--b----------|",
      ran: "    -A-----C-----|",
      more: () => ({ mayWait: () => false }),
    }));

  test("keeps items waiting while it is held, and starts them in order once it is released", () =>
    expectQueue(
      { h: held(9), o: open(9, 1) },
      { items: "-ab--------------|", limits: "h---o", ran: "----A----B-------|" },
    ));

  test(
    "does not stop a run when it is held or scaled down",
    inVirtualTime((helpers) => {
      const item$ = helpers.hot("  -ab");
      const limits$ = helpers.hot("o-h", { o: open(9, 2), h: held(9) });
      const run$ = helpers.cold<Told>("-----|");
      const ran$ = queue(helpers, item$, limits$, "ran", { run: () => run$ });
      helpers.expectObservable(ran$).toBe("-");
      helpers.expectSubscriptions(run$.subscriptions).toBe(["-^----!", "--^----!"]);
    }),
  );

  test("drops the oldest items when its size shrinks", () =>
    expectQueue(
      { o: open(2, 1), s: open(1, 1) },
      { items: "-abc", limits: "o---s", dropped: "----b" },
    ));

  test("drops waiting items when closed, lets the run finish, and completes", () =>
    expectQueue(
      { o: open(2, 1), x: closed },
      { items: "-ab", limits: "o--x", dropped: "---b--|" },
    ));

  test("leaves waiting items when its source completes while held", () =>
    expectQueue(
      { o: open(9, 1), h: held(9) },
      { items: "-ab----|", limits: "o--h", ran: "-A-----|" },
    ));

  test(
    "shares the project's slots with others, first come first served",
    inVirtualTime((helpers) => {
      const slots = createSlots(1);
      const one$ = queue(helpers, helpers.hot("-a--c|"), open(9, 1), "ran", { slots });
      const two$ = queue(helpers, helpers.hot("--b--|"), open(9, 1), "ran", { slots });
      helpers.expectObservable(one$).toBe("    -A---------C----|");
      helpers.expectObservable(two$).toBe("    ------B----|");
    }),
  );

  test(
    "releases its slot when it is unsubscribed, and aborts its runs",
    inVirtualTime((helpers) => {
      const slots = createSlots(1);
      const run$ = helpers.cold<Told>("----------|");
      const item$ = helpers.hot("  -a");
      const out$ = queue(helpers, item$, open(1, 1), "ran", { slots, run: () => run$ });
      helpers.expectObservable(out$, "----!").toBe("-");
      helpers.expectSubscriptions(run$.subscriptions).toBe("-^--!");
      helpers.expectSubscriptions(item$.subscriptions).toBe("^---!");
      helpers.flush();
      expect(slots.tryTake()).not.toBeNull();
    }),
  );

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
    "is separate for each subscriber",
    inVirtualTime((helpers) => {
      const ran$ = queue(helpers, helpers.hot("-ab------c---------|"), open(1, 1));
      helpers.expectObservable(ran$).toBe("            -A----B----C-------|");
      helpers.expectObservable(ran$, "        --------^").toBe("---------C---------|");
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
    "starts no item before it knows its limits",
    inVirtualTime((helpers) => {
      const item$ = helpers.hot("-a---|");
      helpers.expectObservable(queue(helpers, item$, NEVER)).toBe("-----|");
      helpers.expectObservable(queue(helpers, item$, EMPTY, "queued")).toBe("-a---|");
    }),
  );

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
