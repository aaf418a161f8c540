import { EMPTY, map, tap, type Observable } from "rxjs";
import { adoptedRuns, type AdoptedRun } from "../../../streams/runs/adopted-runs.ts";
import { createSlots, type Slots } from "../../../streams/runs/slots.ts";
import type { Kill } from "../../../streams/runs/run-agent.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { marbles, seconds, type Marbles } from "../../helpers/marbles.ts";
import { exitWith, timedRunner } from "../../helpers/stream-runner.ts";
import { letterOf, portsOf } from "./run-ports.ts";

/** A run of `agent` that has three seconds, was started at `startedAt` and would go on for `runMs`. */
function anAdopted(
  { scheduler }: Marbles,
  agent: string,
  { startedAt = 0, runMs = 9000 }: { startedAt?: number; runMs?: number } = {},
): AdoptedRun {
  const request = {
    instanceId: `${agent}-1`,
    agent: anAgent(agent, { timeoutSeconds: 3 }),
    item: anItem("1", agent),
  };
  const runner = timedRunner(scheduler, runMs);
  return { request, startedAt, report: (stop$) => runner.run(request, stop$) };
}

/** The events of adopted runs, with one slot for them. */
function adopt(
  helpers: Marbles,
  adopted$: Observable<AdoptedRun>,
  { kill$ = EMPTY, slots = createSlots(1) }: { kill$?: Observable<Kill>; slots?: Slots } = {},
) {
  const ports = portsOf(helpers, EMPTY, { kill$, starting: createSlots(0) });
  return adoptedRuns(adopted$, { ...ports, slots });
}

test("adopted runs continue at once, and time out by the clock of their first start", () =>
  marbles((helpers) => {
    const adopted$ = helpers.cold<AdoptedRun>(seconds("-a|"), { a: anAdopted(helpers, "dev") });
    const { event$ } = adopt(helpers, adopted$);
    helpers.expectObservable(event$.pipe(map(letterOf))).toBe("1s s 1999ms (T|)");
  }));

test("adopted runs report when they were started, and that they continue", () =>
  marbles((helpers) => {
    const run = anAdopted(helpers, "dev", { startedAt: -500, runMs: 2 });
    const { event$ } = adopt(helpers, helpers.cold("-(a|)", { a: run }));
    const { item } = run.request;
    const at = { agent: "dev", item, instanceId: "dev-1", startedAt: -500 };
    const end = { outcome: "succeeded", exitCode: 0, reason: null, usage: null };
    helpers.expectObservable(event$).toBe("-s-(f|)", {
      s: { ...at, type: "started", at: 1 },
      f: { ...at, type: "finished", at: 3, end },
    });
  }));

test("adopted runs that ended in time are not timed out, however late that is noticed", () =>
  marbles((helpers) => {
    const ended = (endedAt: number): AdoptedRun => ({
      ...anAdopted(helpers, "dev", { startedAt: -10_000 }),
      report: () => helpers.cold("--(x|)", { x: exitWith({ endedAt }) }),
    });
    for (const [endedAt, outcome] of [
      [-7001, "S"],
      [-7000, "T"],
    ] as const) {
      const { event$ } = adopt(helpers, helpers.cold("(a|)", { a: ended(endedAt) }));
      const seen$ = event$.pipe(
        tap((event) => event.type === "finished" && expect(event.at).toBe(endedAt)),
        map(letterOf),
      );
      helpers.expectObservable(seen$).toBe(`s-(${outcome}|)`);
    }
  }));

test("adopted runs do not end before they started, by any clock", () =>
  marbles((helpers) => {
    const short: AdoptedRun = {
      ...anAdopted(helpers, "dev", { startedAt: -10 }),
      report: () => helpers.cold("--(x|)", { x: exitWith({ endedAt: -21 }) }),
    };
    const ahead = anAdopted(helpers, "ops", { startedAt: 1000, runMs: 2 });
    const adopted$ = helpers.cold("(a|)", { a: short });
    const endedAt = ({ type, at }: RunEvent): number | null => (type === "finished" ? at : null);
    const { event$ } = adopt(helpers, adopted$);
    helpers.expectObservable(event$.pipe(map(endedAt))).toBe("s-(f|)", { s: null, f: -10 });
    const later = adopt(helpers, helpers.cold("(a|)", { a: ahead }));
    helpers.expectObservable(later.event$.pipe(map(endedAt))).toBe("s-(f|)", { s: null, f: 1000 });
  }));

test("adopted runs are killed as any other", () =>
  marbles((helpers) => {
    const kill$ = helpers.hot<Kill>("--k", { k: { agent: "dev" } });
    const adopted$ = helpers.cold("a|", { a: anAdopted(helpers, "dev") });
    const { event$ } = adopt(helpers, adopted$, { kill$ });
    helpers.expectObservable(event$.pipe(map(letterOf))).toBe("s-(K|)");
  }));

test("adopted runs are interrupted when a signal ended them and their scheduler was stopping", () =>
  marbles((helpers) => {
    const exit = { exitCode: 143, endedAt: 2 };
    for (const [leftByStop, outcome] of [
      [true, "I"],
      [false, "F"],
    ] as const) {
      const report = () => helpers.cold("--(x|)", { x: exitWith(exit) });
      const run: AdoptedRun = { ...anAdopted(helpers, "dev"), leftByStop, report };
      const { event$ } = adopt(helpers, helpers.cold("(a|)", { a: run }));
      helpers.expectObservable(event$.pipe(map(letterOf))).toBe(`s-(${outcome}|)`);
    }
  }));

test("adopted runs count for their agent while they live", () =>
  marbles((helpers) => {
    const runs = {
      a: anAdopted(helpers, "dev", { runMs: 4 }),
      b: anAdopted(helpers, "dev", { runMs: 2 }),
      c: anAdopted(helpers, "ops", { runMs: 9 }),
    };
    const adopted = adopt(helpers, helpers.cold("-a-b-c|", runs));
    const letters = { 0: 0, 1: 1, 2: 2 };
    helpers.expectObservable(adopted.countOf("dev"), "-------!").toBe("01-2-(10)", letters);
    helpers.expectObservable(adopted.event$, "------!");
  }));

test("adopted runs take a slot while one is free, and live without one", () =>
  marbles((helpers) => {
    const slots = createSlots(1);
    const runs = {
      a: anAdopted(helpers, "dev", { runMs: 5 }),
      b: anAdopted(helpers, "ops", { runMs: 6 }),
    };
    const adopted$ = helpers.cold("(ab|)", runs);
    const { event$ } = adopt(helpers, adopted$, { slots });
    const free: boolean[] = [];
    const seen$ = event$.pipe(
      tap(() => {
        const taken = slots.tryTake();
        free.push(taken !== null);
        taken?.[Symbol.dispose]();
      }),
      map(letterOf),
    );
    helpers.expectObservable(seen$).toBe("(ss)-S(S|)");
    helpers.flush();
    expect(free).toEqual([false, false, false, true]);
  }));

test("adopted runs are aborted when they are unsubscribed", () =>
  marbles((helpers) => {
    const slots = createSlots(1);
    const kill$ = helpers.hot<Kill>("-------");
    const adopted$ = helpers.cold("-a", { a: anAdopted(helpers, "dev") });
    const { event$, countOf } = adopt(helpers, adopted$, { kill$, slots });
    helpers.expectObservable(event$.pipe(map(letterOf)), "----!").toBe("-s");
    helpers.expectSubscriptions(kill$.subscriptions).toBe("-^--!");
    helpers.expectObservable(countOf("dev"), "-----!").toBe("01--0", { 0: 0, 1: 1 });
    helpers.flush();
    expect(slots.tryTake()).not.toBeNull();
  }));
