import { EMPTY, map, of, throwError } from "rxjs";
import type { Observable } from "rxjs";
import { describe, it } from "vitest";
import type { Runner } from "../../../streams/runs/runner.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { marbles, minutes } from "../../helpers/marbles.ts";
import { timedRunner } from "../../helpers/stream-runner.ts";
import { changeOf, drawn, graphOf, only } from "../graph.ts";

describe("the graph: its end", () => {
  it("stops triggers, drains runs, leaves what waits, and completes", () =>
    marbles((helpers) => {
      const changes = " (ab)-----------";
      const webhooks = "----16-2----3--";
      const stopping = "--------s------";
      const started = " ----16----|";
      const finished = "---------1(6|)";
      const refused = " ----------|";
      const event$ = drawn(helpers, { changes, webhooks, stopping });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "finished")).toBe(finished);
      helpers.expectObservable(only(event$, "refused")).toBe(refused);
    }));

  it("completes at once when nothing runs, whatever state agents are in", () =>
    marbles((helpers) => {
      const changes = " (abicC)--";
      const enabled = " ------d--";
      const webhooks = "-------12-";
      const stopping = "---------s";
      const started = " ---------|";
      const event$ = drawn(helpers, { changes, enabled, webhooks, stopping });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("ticks no more once it stops", () =>
    marbles((helpers) => {
      const configs = { a: changeOf("a", { schedule: "*/3 * * * *" }) };
      const lines = { changes: "a---------", configs, stopping: "-----s-" };
      const expected = "         ---c-|";
      const event$ = drawn(helpers, lines, {}, minutes);
      const until = "          ------------!";
      helpers.expectObservable(only(event$, "started"), minutes(until)).toBe(minutes(expected));
    }));

  it("drains by a kill, too", () =>
    marbles((helpers) => {
      const changes = " a------";
      const webhooks = "-1-----";
      const stopping = "--s----";
      const kills = "   ----x--";
      const finished = "----(1|)";
      const runner = timedRunner(helpers.scheduler, 99);
      const event$ = drawn(helpers, { changes, webhooks, stopping, kills }, { runner });
      helpers.expectObservable(only(event$, "finished")).toBe(finished);
    }));

  it("completes with empty sources", () =>
    marbles((helpers) => {
      const event$ = graphOf(helpers.scheduler, {
        agentChange$: EMPTY,
        webhook$: EMPTY,
        call$: EMPTY,
        manual$: EMPTY,
        enabled$: EMPTY,
        withdraw$: EMPTY,
      });
      helpers.expectObservable(event$).toBe("|");
    }));

  it("errors only with a broken root, and aborts what runs", () =>
    marbles((helpers) => {
      const broken$ = helpers.cold("          --#");
      const run$ = helpers.cold<never>("      -----");
      const event$ = graphOf(
        helpers.scheduler,
        {
          agentChange$: of(changeOf("a")),
          webhook$: of(anItem("1", "a")),
          call$: broken$.pipe(map((never) => never as unknown as WorkItem)),
        },
        { runner: { run: () => run$ } },
      );
      helpers.expectObservable(only(event$, "started")).toBe("1-#");
      helpers.expectSubscriptions(run$.subscriptions).toBe("  ^-!");
    }));

  it("goes on for everybody when one run breaks or can't be claimed", () =>
    marbles((helpers) => {
      const changes = " (ab)-";
      const webhooks = "----16";
      const runner: Runner = { run: () => throwError(() => new Error("broken")) };
      const event$ = drawn(helpers, { changes, webhooks }, { runner });
      helpers.expectObservable(only(event$, "finished")).toBe("----16");
      const claim = (): Observable<never> => throwError(() => new Error("store unavailable"));
      const refusing$ = drawn(helpers, { changes, webhooks }, { claim });
      helpers.expectObservable(only(refusing$, "refused")).toBe("----16");
    }));

  it("leaves its sources and aborts its runs when it is unsubscribed, and starts anew", () =>
    marbles((helpers) => {
      const { hot, cold, expectSubscriptions } = helpers;
      const agentChange$ = cold("     a", { a: changeOf("a") });
      const webhook$ = hot("          -1-----1", { "1": anItem("1", "a") });
      const kill$ = hot<never>("      -");
      const run$ = cold<never>("      -----");
      const first = "                 ^--!";
      const second = "                -----^---!";
      const event$ = graphOf(
        helpers.scheduler,
        { agentChange$, webhook$, kill$ },
        { runner: { run: () => run$ } },
      );
      helpers.expectObservable(only(event$, "started"), first).toBe("-1");
      helpers.expectObservable(only(event$, "started"), second).toBe("-------1");
      expectSubscriptions(agentChange$.subscriptions).toBe([first, second]);
      expectSubscriptions(webhook$.subscriptions).toBe([first, second]);
      expectSubscriptions(run$.subscriptions).toBe(["-^-!", "-------^-!"]);
    }));
});
