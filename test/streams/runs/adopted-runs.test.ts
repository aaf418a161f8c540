import { EMPTY, map, of, tap, type Observable } from "rxjs";
import { adoptedRuns, type AdoptedRun } from "../../../streams/runs/adopted-runs.ts";
import { createSlots, type Slots } from "../../../streams/runs/slots.ts";
import type { Kill } from "../../../streams/runs/run-agent.ts";
import type { RunnerExit } from "../../../streams/runs/runner.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { inVirtualTime, marbles, seconds, type Marbles } from "../../helpers/marbles.ts";
import { exitWith, timedRunner } from "../../helpers/stream-runner.ts";
import { letterOf, portsOf } from "./run-ports.ts";

/** A run of `agent` that has three seconds, was started at `startedAt` and would go on for `runMs`. */
function anAdopted(
  { scheduler }: Marbles,
  agent: string,
  { runMs = 9000, ...more }: Partial<AdoptedRun> & { readonly runMs?: number } = {},
): AdoptedRun {
  const request = {
    instanceId: `${agent}-1`,
    agent: anAgent(agent, { timeoutSeconds: 3 }),
    item: anItem("1", agent),
  };
  const runner = timedRunner(scheduler, runMs);
  return { request, startedAt: 0, report: (stop$) => runner.run(request, stop$), ...more };
}

/** An adopted run of dev whose exit is found out after 2 ms. */
const exited = (helpers: Marbles, exit: Partial<RunnerExit>, more: Partial<AdoptedRun> = {}) =>
  anAdopted(helpers, "dev", {
    report: () => helpers.cold("--(x|)", { x: exitWith(exit) }),
    ...more,
  });

/** The events of adopted runs, with one slot for them. */
function adopt(
  helpers: Marbles,
  adopted: Observable<AdoptedRun> | AdoptedRun,
  { kill$ = EMPTY, slots = createSlots(1) }: { kill$?: Observable<Kill>; slots?: Slots } = {},
) {
  const ports = portsOf(helpers, EMPTY, { kill$, starting: createSlots(0) });
  const adopted$ = "request" in adopted ? of(adopted) : adopted;
  const { event$, ...live } = adoptedRuns(adopted$, { ...ports, slots });
  return { event$, ...live, letter$: event$.pipe(map(letterOf)) };
}

test(
  "adopted runs continue at once, and their timeout counts from their first start",
  inVirtualTime((helpers) => {
    const adopted$ = helpers.cold<AdoptedRun>(seconds("-a|"), { a: anAdopted(helpers, "dev") });
    helpers.expectObservable(adopt(helpers, adopted$).letter$).toBe("1s s 1999ms (T|)");
  }),
);

test(
  "adopted runs emit events with the time of their first start",
  inVirtualTime((helpers) => {
    const startedAt = -500;
    const run = anAdopted(helpers, "dev", { startedAt, runMs: 2 });
    const { item } = run.request;
    const at = { agent: "dev", item, instanceId: "dev-1", startedAt };
    const end = { outcome: "succeeded", exitCode: 0, reason: null, usage: null };
    helpers.expectObservable(adopt(helpers, run).event$).toBe("s-(f|)", {
      s: { ...at, type: "started", at: 0 },
      f: { ...at, type: "finished", at: 2, end },
    });
  }),
);

test.each([
  ["before", "succeeded", -7001],
  ["at", "timed_out", -7000],
])(
  "adopted runs that ended %s their timeout finish as %s, however late that is noticed",
  (_when, outcome, endedAt) =>
    marbles((helpers) => {
      const run = exited(helpers, { endedAt }, { startedAt: -10_000 });
      const { event$, letter$ } = adopt(helpers, run);
      helpers.expectObservable(letter$).toBe(`s-(${outcome.charAt(0).toUpperCase()}|)`);
      const end$ = event$.pipe(map(({ type, at }) => (type === "finished" ? at : null)));
      helpers.expectObservable(end$).toBe("s-(e|)", { s: null, e: endedAt });
    }),
);

test(
  "the end of an adopted run is never before its start, even if the clock was set back",
  inVirtualTime((helpers) => {
    const short = exited(helpers, { endedAt: -21 }, { startedAt: -10 });
    const ahead = anAdopted(helpers, "ops", { startedAt: 1000, runMs: 2 });
    for (const run of [short, ahead]) {
      const end$ = adopt(helpers, run).event$.pipe(
        map(({ type, at }) => (type === "finished" ? at : null)),
      );
      helpers.expectObservable(end$).toBe("s-(f|)", { s: null, f: run.startedAt });
    }
  }),
);

test.each([
  ["interrupted", "stopped", "I", true],
  ["failed", "did not stop", "F", false],
])(
  "adopted runs that a signal ended finish as %s if the scheduler %s",
  (_outcome, _how, letter, leftByStop) =>
    marbles((helpers) => {
      const run = exited(helpers, { exitCode: 143, endedAt: 2 }, { leftByStop });
      helpers.expectObservable(adopt(helpers, run).letter$).toBe(`s-(${letter}|)`);
    }),
);

test(
  "adopted runs take a slot if one is free, and run without a slot otherwise",
  inVirtualTime((helpers) => {
    const slots = createSlots(1);
    const runs = {
      a: anAdopted(helpers, "dev", { runMs: 5 }),
      b: anAdopted(helpers, "ops", { runMs: 6 }),
    };
    const { letter$ } = adopt(helpers, helpers.cold("(ab|)", runs), { slots });
    const free: boolean[] = [];
    const seen$ = letter$.pipe(
      tap(() => {
        const taken = slots.tryTake();
        free.push(taken !== null);
        taken?.[Symbol.dispose]();
      }),
    );
    helpers.expectObservable(seen$).toBe("(ss)-S(S|)");
    helpers.flush();
    expect(free).toEqual([false, false, false, true]);
  }),
);

test(
  "adopted runs are aborted when they are unsubscribed",
  inVirtualTime((helpers) => {
    const slots = createSlots(1);
    const kill$ = helpers.hot<Kill>("-");
    const adopted$ = helpers.cold("-a", { a: anAdopted(helpers, "dev") });
    const { letter$, countOf } = adopt(helpers, adopted$, { kill$, slots });
    helpers.expectObservable(letter$, "----!").toBe("-s");
    helpers.expectSubscriptions(kill$.subscriptions).toBe("-^--!");
    helpers.expectObservable(countOf("dev"), "5ms !").toBe("01--0", { 0: 0, 1: 1 });
    helpers.flush();
    expect(slots.tryTake()).not.toBeNull();
  }),
);

test.each([
  ["the earlier scheduler", { supersededBy: "1" }, "1"],
  ["this scheduler", {}, "2"],
])("adopted runs know their keys, and end for newer work of %s", (_whose, more, by) =>
  marbles((helpers) => {
    const { request, ...run } = anAdopted(helpers, "dev", { runMs: 9, ...more });
    const keyed = { ...run, request: { ...request, item: { ...request.item, key: "k" } } };
    const { event$, keyedOf } = adopt(helpers, keyed);
    const by$ = event$.pipe(
      tap(() =>
        [...keyedOf("dev")].forEach(({ supersededBy$ }) =>
          supersededBy$.next(supersededBy$.value ?? "2"),
        ),
      ),
      map((event) =>
        event.type === "finished" ? event.end.supersededBy : [...keyedOf("dev")][0]?.key,
      ),
    );
    helpers.expectObservable(by$).toBe("(kf|)", { k: "k", f: by });
  }),
);

test(
  "an adopted run that ends for newer work is superseded even if the clock was set back since it started",
  inVirtualTime((helpers) => {
    const set = { startedAt: 10_000, supersededBy: "1" };
    const { request, ...run } = exited(helpers, { endedAt: 1, exitCode: 1 }, set);
    const keyed = { ...run, request: { ...request, item: { ...request.item, key: "k" } } };
    const outcome$ = adopt(helpers, keyed).event$.pipe(
      map((event) => (event.type === "finished" ? event.end.outcome : event.type)),
    );
    helpers.expectObservable(outcome$).toBe("s-(f|)", { s: "started", f: "superseded" });
  }),
);
