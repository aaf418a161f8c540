import type { StopReason } from "../../../streams/outcomes.ts";
import { EMPTY, ignoreElements, map, merge, tap, throwError, type Observable } from "rxjs";
import { runAgent, type RunPorts } from "../../../streams/runs/run-agent.ts";
import type { Runner, RunnerEvent } from "../../../streams/runs/runner.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { inVirtualTime, marbles, seconds, type Marbles } from "../../helpers/marbles.ts";
import { exitWith, timedRunner } from "../../helpers/stream-runner.ts";
import { kills, portsOf, run } from "./run-ports.ts";

const agent = anAgent("dev");
const item = anItem("1");
const entry: LogEntry = { level: 30, time: 0, msg: "hello", agent: "dev" };

/** What a runner reports: `o` output, `t` its status text, `x` exits well, `e` exits with 1, `j` rejects. */
const reports: Record<string, RunnerEvent> = {
  o: { type: "output", entry },
  t: { type: "status-text", text: "busy" },
  x: exitWith(),
  e: exitWith({ exitCode: 1 }),
  j: exitWith({ exitCode: null, rejected: "no sudo" }),
};

/** Expects the letters of a run whose runner reports this. */
function expectRun(
  helpers: Marbles,
  report$: Observable<RunnerEvent>,
  expected: string,
  ports: Partial<RunPorts> = {},
): void {
  helpers.expectObservable(run(portsOf(helpers, report$, ports))).toBe(expected);
}

test.each([
  ["emits its runner's events between its start and its end", "--o-t-o-(x|)", "s-o-t-o-(S|)"],
  ["succeeds though its runner fails after the exit", "        --x-#", "       s-S-|"],
  ["is rejected when its runner rejects it", "                 -(j|)", "       s(R|)"],
])("a run %s", (_what, reported, expected) =>
  marbles((helpers) => expectRun(helpers, helpers.cold(reported, reports), expected)),
);

test(
  "a run is rejected without calling its runner when its work can't be claimed",
  inVirtualTime((helpers) => {
    const report$ = helpers.cold("(x|)", reports);
    const lockStatus$ = helpers.cold("--#", {}, new Error("store unavailable"));
    const ports = portsOf(helpers, report$, { claim: () => lockStatus$ });
    const refused = { type: "refused", agent: "dev", at: 2, item, outcome: "rejected" } as const;
    const expected = { r: { ...refused, reason: "store unavailable" } };
    helpers.expectObservable(runAgent(agent, item, ports)).toBe("--(r|)", expected);
    helpers.expectSubscriptions(report$.subscriptions).toBe([]);
  }),
);

test(
  "a run emits events with its agent, instance and item",
  inVirtualTime((helpers) => {
    const report$ = helpers.cold("-o-t-(x|)", reports);
    const at = { agent: "dev", instanceId: "dev-1" };
    const end = { outcome: "succeeded", exitCode: 0, reason: null, usage: null };
    const event$ = runAgent(agent, item, portsOf(helpers, report$));
    helpers.expectObservable(event$).toBe("so-t-(F|)", {
      s: { ...at, type: "started", at: 0, item },
      o: { ...at, type: "output", at: 1, entry },
      t: { ...at, type: "status-text", at: 3, text: "busy" },
      F: { ...at, type: "finished", at: 5, item, startedAt: 0, end },
    });
  }),
);

test(
  "a run times out after its agent's timeout, counted from its start",
  inVirtualTime((helpers) => {
    const lockStatus$ = helpers.cold(seconds("--c"));
    const expected = seconds("          --s--(T|)");
    const runner = timedRunner(helpers.scheduler, 9000);
    const ports = portsOf(helpers, EMPTY, { claim: () => lockStatus$, runner });
    helpers.expectObservable(run(ports, { timeoutSeconds: 3 })).toBe(expected);
  }),
);

test(
  "a run is asked to stop once, with the first of several reasons",
  inVirtualTime((helpers) => {
    const kill$ = helpers.hot("   --a-a-e", kills);
    const report$ = helpers.cold("-------(x|)", reports);
    const expected = "            s------(K|)";
    const stops: StopReason[] = [];
    const runner: Runner = {
      run: (_request, stop$) =>
        merge(
          report$,
          stop$.pipe(
            tap((reason) => stops.push(reason)),
            ignoreElements(),
          ),
        ),
    };
    expectRun(helpers, EMPTY, expected, { kill$, runner });
    helpers.flush();
    expect(stops).toEqual(["killed"]);
  }),
);

test(
  "a run fails with the message of a runner that throws or emits an error",
  inVirtualTime((helpers) => {
    const throwing = {
      run: (): never => {
        throw new Error("broken");
      },
    };
    const erring = { run: () => throwError(() => new Error("broken")) };
    const end = { outcome: "failed", exitCode: 1, reason: "broken", usage: null };
    for (const runner of [throwing, erring]) {
      const event$ = runAgent(agent, item, portsOf(helpers, EMPTY, { runner }));
      const end$ = event$.pipe(map((event) => (event.type === "finished" ? event.end : null)));
      helpers.expectObservable(end$).toBe("(sf|)", { s: null, f: end });
    }
  }),
);

test.each([
  ["interrupted", "with its scheduler", "--s", "s-(I|)"],
  ["killed", "by a person just before its scheduler", "--(as)", "s-(K|)"],
])("a run ends as %s when it is stopped %s", (_outcome, _how, killed, expected) =>
  marbles((helpers) => {
    const runner = timedRunner(helpers.scheduler, 6);
    const kill$ = helpers.hot(killed, kills);
    expectRun(helpers, EMPTY, expected, { runner, kill$, isStopping: () => true });
  }),
);

test.each([
  [{ exitCode: null, signal: "SIGTERM" }, "interrupted", true],
  [{ exitCode: 143 }, "interrupted", true],
  [{ exitCode: 3 }, "failed", true],
  [{ exitCode: 143 }, "failed", false],
])("a run with the exit %j ends as %s if isStopping is %s", (exit, outcome, stopping) =>
  marbles((helpers) => {
    const report$ = helpers.cold("--(x|)", { x: exitWith(exit) });
    const letter = outcome.charAt(0).toUpperCase();
    expectRun(helpers, report$, `s-(${letter}|)`, { isStopping: () => stopping });
  }),
);
