import { concat, EMPTY, filter, map, NEVER, of, startWith, take, throwError, timer } from "rxjs";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { createSlots } from "../../../streams/runs/slots.ts";
import { queueLatest } from "../../../streams/runs/queue-latest.ts";
import type { QueueEvent, QueueLimits, QueueOptions } from "../../../streams/runs/queue-latest.ts";
import { marbles } from "../../helpers/marbles.ts";
import type { Marbles } from "../../helpers/marbles.ts";

type Told = QueueEvent<string> | { readonly type: "ran"; readonly item: string };

const open = (size: number, scale: number): QueueLimits => ({ size, scale, mode: "open" });
const held = (size: number): QueueLimits => ({ size, scale: 1, mode: "held" });
const closed: QueueLimits = { size: 1, scale: 1, mode: "closed" };

/**
 * The queue over `item$`, each run five columns long. Of what it tells only `types` are kept, so that a moment holds
 * one value: `A` for a run of a that starts, the item's own letter for all else.
 */
function queue(
  helpers: Marbles,
  item$: Observable<string>,
  limits: QueueLimits | Observable<QueueLimits>,
  types: readonly Told["type"][],
  more: Partial<QueueOptions<string, Told>> = {},
): Observable<string> {
  const ran = (item: string): Observable<Told> =>
    timer(5, helpers.scheduler).pipe(
      filter(() => false),
      map((): Told => ({ type: "ran", item })),
      startWith<Told>({ type: "ran", item }),
    );
  const operator = queueLatest<string, Told>({
    limits$: "mode" in limits ? of(limits) : limits,
    slots: createSlots(),
    mayWait: () => true,
    run: ran,
    report: (event) => event,
    ...more,
  });
  return item$.pipe(
    operator,
    filter(({ type }) => types.includes(type)),
    map(letter),
  );
}

function letter(told: Told): string {
  if (told.type === "depth") return String(told.depth);
  return told.type === "ran" ? told.item.toUpperCase() : told.item;
}

describe("the bounded queue", () => {
  it("completes with an empty source", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("---|");
      const expected = "         ---|";
      helpers.expectObservable(queue(helpers, item$, open(1, 1), ["ran"])).toBe(expected);
    }));

  it("lets what is no item through in its turn, until it is over", () =>
    marbles((helpers) => {
      const told: Told = { type: "ran", item: "through" };
      const value$ = helpers.hot<string | Told>("-at--|", { a: "a", t: told });
      const operator = queueLatest<string, Told>({
        limits$: of(open(1, 1)),
        slots: createSlots(),
        isItem: (value) => typeof value === "string",
        mayWait: () => true,
        run: (item) => timer(5, helpers.scheduler).pipe(map((): Told => ({ type: "ran", item }))),
        report: (event) => event,
      });
      const said$ = value$.pipe(
        operator,
        map((each) => ("item" in each ? each.item.charAt(0) : each.type)),
      );
      helpers.expectObservable(said$).toBe("--t---(a|)");
    }));

  it("runs one at a time, in order, and finishes what waits after its source completed", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("-abc|");
      const expected = "         -A----B----C----|";
      helpers.expectObservable(queue(helpers, item$, open(9, 1), ["ran"])).toBe(expected);
    }));

  it("runs as many at once as the scale says", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("-abc-|");
      const expected = "         -AB---C----|";
      helpers.expectObservable(queue(helpers, item$, open(9, 2), ["ran"])).toBe(expected);
    }));

  it("drops the oldest trigger when full", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("-abcd-----|");
      const dropped = "          ---bc------|";
      const started = "          -A----D----|";
      helpers.expectObservable(queue(helpers, item$, open(1, 1), ["dropped"])).toBe(dropped);
      helpers.expectObservable(queue(helpers, item$, open(1, 1), ["ran"])).toBe(started);
    }));

  it("says how many wait, after each change", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("-abc-----------|");
      const expected = "         --12--1----0----|";
      helpers.expectObservable(queue(helpers, item$, open(9, 1), ["depth"])).toBe(expected);
    }));

  it("survives a burst with the latest few, in order", () =>
    marbles((helpers) => {
      const item$ = of("a", "b", "c", "d", "e", "f", "g", "h");
      const ran$ = queue(helpers, item$, open(2, 1), ["ran"]);
      helpers.expectObservable(ran$).toBe("A----G----H----|");
    }));

  it("skips what may not wait when everybody is busy", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("-ab----c-----|");
      const skipped = "          --b----------|";
      const started = "          -A-----C-----|";
      const more = { mayWait: () => false };
      const out$ = (type: Told["type"]): Observable<string> =>
        queue(helpers, item$, open(9, 1), [type], more);
      helpers.expectObservable(out$("skipped")).toBe(skipped);
      helpers.expectObservable(out$("ran")).toBe(started);
    }));

  it("holds what comes while held, and starts it in order once open", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("  -ab--------------|");
      const limits$ = helpers.hot("h---o-------------", { h: held(9), o: open(9, 1) });
      const expected = "           ----A----B-------|";
      const ran$ = queue(helpers, item$, limits$.pipe(startWith(held(9))), ["ran"]);
      helpers.expectObservable(ran$).toBe(expected);
    }));

  it("does not stop a run when it is held or scaled down", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("  -ab-------------");
      const limits$ = helpers.hot("o-h-------------", { o: open(9, 2), h: held(9) });
      const run$ = helpers.cold<Told>("-----|");
      const runs = "               -^----!";
      const more = { run: () => run$ };
      helpers.expectObservable(queue(helpers, item$, limits$, ["ran"], more)).toBe("-");
      helpers.expectSubscriptions(run$.subscriptions).toBe([runs, runs.replace("-^", "--^")]);
    }));

  it("drops the oldest when its size shrinks", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("  -abc------------");
      const limits$ = helpers.hot("o---s-----------", { o: open(2, 1), s: open(1, 1) });
      const expected = "           ----b-----------";
      helpers.expectObservable(queue(helpers, item$, limits$, ["dropped"])).toBe(expected);
    }));

  it("closed: drops what waits, lets the run finish, and completes", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("  -ab-------------");
      const limits$ = helpers.hot("o--x------------", { o: open(2, 1), x: closed });
      const expected = "           ---b--|";
      helpers.expectObservable(queue(helpers, item$, limits$, ["dropped"])).toBe(expected);
    }));

  it("leaves what waits where it is when its source completes while held", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("  -ab----|");
      const limits$ = helpers.hot("o--h-----", { o: open(9, 1), h: held(9) });
      const expected = "           -A-----|";
      helpers.expectObservable(queue(helpers, item$, limits$, ["ran"])).toBe(expected);
    }));

  it("shares the project's slots with others, first come first served", () =>
    marbles((helpers) => {
      const slots = createSlots(1);
      const one$ = queue(helpers, helpers.hot("-a--c|"), open(9, 1), ["ran"], { slots });
      const two$ = queue(helpers, helpers.hot("--b--|"), open(9, 1), ["ran"], { slots });
      helpers.expectObservable(one$).toBe("    -A---------C----|");
      helpers.expectObservable(two$).toBe("    ------B----|");
    }));

  it("gives its slot back when it is unsubscribed, and aborts what runs", () =>
    marbles((helpers) => {
      const slots = createSlots(1);
      const run$ = helpers.cold<Told>("----------|");
      const item$ = helpers.hot("  -a-------");
      const unsubscribed = "       ----!";
      const out$ = queue(helpers, item$, open(1, 1), ["ran"], { slots, run: () => run$ });
      helpers.expectObservable(out$, unsubscribed).toBe("-----");
      helpers.expectSubscriptions(run$.subscriptions).toBe("-^--!");
      helpers.expectSubscriptions(item$.subscriptions).toBe("^---!");
      helpers.flush();
      expect(slots.tryTake()).not.toBeNull();
    }));

  it("starts nothing more once its reader left in the middle of a burst", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("  -abcd-----");
      const limits$ = helpers.hot("h----o----", { h: held(9), o: open(9, 9) });
      const started: string[] = [];
      const run = (item: string): Observable<Told> => {
        started.push(item);
        return of({ type: "ran", item });
      };
      const ran$ = queue(helpers, item$, limits$, ["ran"], { run }).pipe(take(2));
      helpers.expectObservable(ran$).toBe("-----(AB|)");
      helpers.flush();
      expect(started).toEqual(["a", "b"]);
    }));

  it("keeps a queue of its own for each subscriber", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("      -ab------c---------|");
      const ran$ = queue(helpers, item$, open(1, 1), ["ran"]);
      helpers.expectObservable(ran$).toBe("            -A----B----C-------|");
      helpers.expectObservable(ran$, "        --------^----------").toBe("---------C---------|");
    }));

  it("passes an error of its source on, and aborts what runs", () =>
    marbles((helpers) => {
      const run$ = helpers.cold<Told>("----------|");
      const item$ = helpers.hot("  -a--#");
      const out$ = queue(helpers, item$, open(1, 1), ["ran"], { run: () => run$ });
      helpers.expectObservable(out$).toBe("----#");
      helpers.expectSubscriptions(run$.subscriptions).toBe("-^--!");
    }));

  it("passes an error of its limits or of a run on", () =>
    marbles((helpers) => {
      const broken$ = throwError(() => "error");
      const byLimits$ = queue(helpers, NEVER, broken$, ["ran"]);
      const byRun$ = queue(helpers, of("a"), open(1, 1), ["ran"], { run: () => broken$ });
      helpers.expectObservable(byLimits$).toBe("#");
      helpers.expectObservable(byRun$).toBe("#");
    }));

  it("lets what waits be withdrawn, and leaves what runs alone", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("   -abcd|");
      const withdrawn = "           --a--c---x-|";
      const runs = "                -A----B----D----|";
      const dropped = "             -----c----------|";
      const withdraw$ = helpers.hot(withdrawn).pipe(
        map((meant) => ({
          why: "withdrawn" as const,
          isMeant: (item: string) => item === meant,
        })),
      );
      const more = { withdraw$ };
      const [ran$, dropped$] = [["ran"] as const, ["dropped"] as const].map((types) =>
        queue(helpers, item$, open(9, 1), types, more),
      );
      helpers.expectObservable(ran$ ?? NEVER).toBe(runs);
      helpers.expectObservable(dropped$ ?? NEVER).toBe(dropped);
    }));

  it("starts nothing before it knows its limits", () =>
    marbles((helpers) => {
      const item$ = helpers.hot("-a---|");
      helpers.expectObservable(queue(helpers, item$, NEVER, ["ran"])).toBe("-----|");
      helpers.expectObservable(queue(helpers, item$, EMPTY, ["queued"])).toBe("-a---|");
    }));

  it("starts ten thousand waiting items that finish at once without growing the stack", () =>
    marbles((helpers) => {
      const names = Array.from({ length: 10_000 }, (_, index) => String(index));
      const limits$ = helpers.hot("ho", { h: held(10_000), o: open(10_000, 1) });
      let ran = 0;
      const run = (item: string): Observable<Told> => of({ type: "ran", item });
      const out$ = queue(helpers, concat(of(...names), NEVER), limits$, ["ran"], { run });
      out$.subscribe(() => ran++);
      helpers.flush();
      expect(ran).toBe(10_000);
    }));
});
