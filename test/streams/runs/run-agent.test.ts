import { EMPTY, ignoreElements, map, merge, of, tap, throwError } from "rxjs";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { createSlots } from "../../../streams/runs/slots.ts";
import { runAgent } from "../../../streams/runs/run-agent.ts";
import type { Kill, RunPorts } from "../../../streams/runs/run-agent.ts";
import type { Runner, RunnerEvent, StopReason } from "../../../streams/runs/runner.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { LogEntry, RunEvent, RunRequest } from "../../../streams/vocabulary.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { marbles, seconds } from "../../helpers/marbles.ts";
import type { Marbles } from "../../helpers/marbles.ts";
import { createRunOwner } from "../../helpers/run-owner.ts";
import { exitWith, timedRunner } from "../../helpers/stream-runner.ts";

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

const kills: Record<string, Kill> = {
  i: { instanceId: "dev-1" },
  I: { instanceId: "dev-2" },
  a: { agent: "dev" },
  A: { agent: "ops" },
  e: { everything: "killed" },
};

function portsOf(
  { scheduler }: Marbles,
  report$: Observable<RunnerEvent>,
  more: Partial<RunPorts> = {},
): RunPorts {
  return {
    runner: { run: () => report$ },
    claim: () => of("claimed"),
    newInstanceId: (name) => `${name}-1`,
    kill$: EMPTY,
    scheduler,
    owner: createRunOwner(() => scheduler.now()),
    starting: createSlots(),
    draining$: of(false),
    isStopping: () => false,
    checkValue: () => of(null),
    ...more,
  };
}

/** `s` started, `o` output, `t` status text, `r` refused; finished by the first letter of its outcome, in capitals. */
function letterOf(event: RunEvent): string {
  if (event.type === "finished") return event.end.outcome.charAt(0).toUpperCase();
  if (event.type === "status-text") return "t";
  return event.type.charAt(0);
}

function run(ports: RunPorts, config: AgentConfig = agent): Observable<string> {
  return runAgent(config, item, ports).pipe(map(letterOf));
}

describe("a run", () => {
  it("is started, says what its runner says, and finishes", () =>
    marbles((helpers) => {
      const reported = "   --o-t-o-(x|)";
      const expected = "   s-o-t-o-(S|)";
      const report$ = helpers.cold(reported, reports);
      helpers.expectObservable(run(portsOf(helpers, report$))).toBe(expected);
    }));

  it("finishes once, whatever its runner says after its exit, and is over when that has cleared up", () =>
    marbles((helpers) => {
      const reported = "   --x-o-e-(x|)";
      const expected = "   s-S-----|";
      const report$ = helpers.cold(reported, reports);
      helpers.expectObservable(run(portsOf(helpers, report$))).toBe(expected);
      const broken$ = helpers.cold("--x-#", reports);
      helpers.expectObservable(run(portsOf(helpers, broken$))).toBe("s-S-|");
    }));

  it("starts only after it was claimed", () =>
    marbles((helpers) => {
      const report$ = helpers.cold("    --(x|)", reports);
      const lockStatus$ = helpers.cold("   --c-----");
      const expected = "              --s-(S|)";
      const ports = portsOf(helpers, report$, { claim: () => lockStatus$ });
      helpers.expectObservable(run(ports)).toBe(expected);
      helpers.expectSubscriptions(report$.subscriptions).toBe("--^-!");
    }));

  it("is refused when it can't be claimed, and its runner hears nothing of it", () =>
    marbles((helpers) => {
      const report$ = helpers.cold("(x|)", reports);
      const lockStatus$ = helpers.cold("--#", {}, new Error("store unavailable"));
      const ports = portsOf(helpers, report$, { claim: () => lockStatus$ });
      const refused = { type: "refused", agent: "dev", at: 2, item, outcome: "rejected" } as const;
      const expected = { r: { ...refused, reason: "store unavailable" } };
      helpers.expectObservable(runAgent(agent, item, ports)).toBe("--(r|)", expected);
      helpers.expectSubscriptions(report$.subscriptions).toBe([]);
    }));

  it("is refused when the claim throws", () =>
    marbles((helpers) => {
      const claim = (): never => {
        throw new Error("closed");
      };
      helpers.expectObservable(run(portsOf(helpers, EMPTY, { claim }))).toBe("(r|)");
    }));

  it("carries what belongs to it", () =>
    marbles((helpers) => {
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
    }));

  it("tells its runner and the claim what it is about", () => {
    const asked: RunRequest[] = [];
    marbles((helpers) => {
      const ask = (request: RunRequest): Observable<RunnerEvent> => {
        asked.push(request);
        return of(exitWith());
      };
      const ports = portsOf(helpers, EMPTY, { claim: ask, runner: { run: ask } });
      run(ports).subscribe();
    });
    const request = { instanceId: "dev-1", agent, item };
    expect(asked).toEqual([request, request]);
  });

  it("times out after its own time, counted from its start", () =>
    marbles((helpers) => {
      const lockStatus$ = helpers.cold(seconds("--c"));
      const expected = seconds("          --s--(T|)");
      const runner = timedRunner(helpers.scheduler, 9000);
      const ports = portsOf(helpers, EMPTY, { claim: () => lockStatus$, runner });
      helpers.expectObservable(run(ports, anAgent("dev", { timeoutSeconds: 3 }))).toBe(expected);
    }));

  it("does not time out before, and a timeout beyond the longest timer does not fire at once", () =>
    marbles((helpers) => {
      const runner = timedRunner(helpers.scheduler, 3000);
      const ports = portsOf(helpers, EMPTY, { runner });
      const expected = "s 2999ms (S|)";
      for (const timeoutSeconds of [4, 30 * 24 * 3600]) {
        helpers.expectObservable(run(ports, anAgent("dev", { timeoutSeconds }))).toBe(expected);
      }
    }));

  it("does not time out for the time that it waited for something", () =>
    marbles((helpers) => {
      const waits = seconds("   --w---g-------");
      const expected = seconds("s--------(T|)");
      const runner = timedRunner(helpers.scheduler, 90_000);
      const owner = createRunOwner(() => helpers.scheduler.now());
      const ports = portsOf(helpers, EMPTY, { runner, owner });
      let resume: (ready: () => void) => void = () => undefined;
      const waiting$ = helpers.hot(waits).pipe(
        tap((letter) => {
          if (letter === "w") resume = owner.suspensions.get("dev-1")?.suspend(true) ?? resume;
          else resume(() => undefined);
        }),
        ignoreElements(),
      );
      const out$ = merge(run(ports, anAgent("dev", { timeoutSeconds: 5 })), waiting$);
      helpers.expectObservable(out$, "10s !").toBe(expected.replace("|", ""));
    }));

  it.each([
    ["its instance", "--i---", "s-(K|)"],
    ["its agent", "   --a---", "s-(K|)"],
    ["everything", "  --e---", "s-(K|)"],
    ["another", "     --I-A-", "s-----(S|)"],
  ])("is killed when %s is meant", (_what, killed, expected) =>
    marbles((helpers) => {
      const runner = timedRunner(helpers.scheduler, 6);
      const kill$ = helpers.hot(killed, kills);
      helpers.expectObservable(run(portsOf(helpers, EMPTY, { runner, kill$ }))).toBe(expected);
    }),
  );

  it("is told once to stop, for the first reason", () =>
    marbles((helpers) => {
      const kill$ = helpers.hot("   --a-a-e-", kills);
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
      helpers.expectObservable(run(portsOf(helpers, EMPTY, { kill$, runner }))).toBe(expected);
      helpers.flush();
      expect(stops).toEqual(["killed"]);
    }));

  it("fails with the message of a runner that breaks, whether it errors or throws", () =>
    marbles((helpers) => {
      const throwing = {
        run: (): never => {
          throw new Error("broken");
        },
      };
      const erring = { run: () => throwError(() => new Error("broken")) };
      const end = { outcome: "failed", exitCode: 1, reason: "broken", usage: null };
      for (const runner of [throwing, erring]) {
        const end$ = runAgent(agent, item, portsOf(helpers, EMPTY, { runner })).pipe(
          map((event) => (event.type === "finished" ? event.end : event.type)),
        );
        helpers.expectObservable(end$).toBe("(sf|)", { s: "started", f: end });
      }
    }));

  it("is rejected when its runner turns it down", () =>
    marbles((helpers) => {
      const report$ = helpers.cold("-(j|)", reports);
      helpers.expectObservable(run(portsOf(helpers, report$))).toBe("s(R|)");
    }));

  it("aborts its runner and stops listening when it is unsubscribed", () =>
    marbles((helpers) => {
      const report$ = helpers.cold("-o-----", reports);
      const kill$ = helpers.hot("   -------", kills);
      const unsubscribed = "        ---!";
      const ports = portsOf(helpers, report$, {
        kill$,
        runner: timedRunner(helpers.scheduler, 9),
      });
      helpers.expectObservable(run(portsOf(helpers, report$)), unsubscribed).toBe("so");
      helpers.expectObservable(run(ports), unsubscribed).toBe("s");
      helpers.expectSubscriptions(report$.subscriptions).toBe("^--!");
      helpers.expectSubscriptions(kill$.subscriptions).toBe("^--!");
    }));

  it("does not claim before it is subscribed, and claims anew with an instance of its own each time", () => {
    const claimed: string[] = [];
    marbles((helpers) => {
      let count = 0;
      const ports = portsOf(helpers, of(exitWith()), {
        newInstanceId: (name) => `${name}-${++count}`,
        claim: ({ instanceId }) => of(claimed.push(instanceId)),
      });
      const run$ = run(ports);
      expect(claimed).toEqual([]);
      helpers.expectObservable(run$).toBe("(sS|)");
      helpers.expectObservable(run$, "--^").toBe("--(sS|)");
    });
    expect(claimed).toEqual(["dev-1", "dev-2"]);
  });

  it("passes a burst of output on in order", () =>
    marbles((helpers) => {
      const report$ = helpers.cold("-(oototox|)", reports);
      helpers.expectObservable(run(portsOf(helpers, report$))).toBe("s(oototoS|)");
    }));
});
