import { of, Subject, tap } from "rxjs";
import { describe, expect, it } from "vitest";
import { createSlots } from "../../../streams/runs/slots.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";
import { changeOf, drawn, graphOf, only } from "../graph.ts";

describe("the graph: work", () => {
  it("runs what is addressed to an agent, from wherever it comes, one at a time", () =>
    marbles((helpers) => {
      const lines = {
        changes: "      a----------------",
        webhooks: "     -1---------------",
        calls: "        --2--------------",
        manual: "       ---3-------------",
      };
      const started = " -1----2----3-----";
      const finished = "------1----2----3";
      const event$ = drawn(helpers, lines);
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "finished")).toBe(finished);
    }));

  it("refuses what is withdrawn while it waits, of its own agent only", () =>
    marbles((helpers) => {
      const lines = { changes: "(ab)", webhooks: "-123" };
      const withdraw$ = helpers.hot("----xy", {
        x: { agent: "b", itemId: "2", why: "withdrawn" as const },
        y: { agent: "a", itemId: "2", why: "withdrawn" as const },
      });
      const event$ = drawn(helpers, lines, {}, undefined, { withdraw$ });
      helpers.expectObservable(only(event$, "refused")).toBe("-----2");
      helpers.expectObservable(only(event$, "started")).toBe("-1----3");
    }));

  it("runs agents beside each other", () =>
    marbles((helpers) => {
      const changes = " (ab)";
      const webhooks = "----16";
      const started = " ----16";
      const event$ = drawn(helpers, { changes, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("refuses work for an agent that is not there", () =>
    marbles((helpers) => {
      const changes = " a----";
      const webhooks = "-0-6-";
      const refused = " -0-6-";
      const event$ = drawn(helpers, { changes, webhooks });
      helpers.expectObservable(only(event$, "refused")).toBe(refused);
    }));

  it("takes what a restart left, which is there before anything else", () =>
    marbles((helpers) => {
      const event$ = graphOf(helpers.scheduler, {
        agentChange$: of(changeOf("a"), changeOf("i"), changeOf("b")),
        webhook$: of(anItem("1", "a"), anItem("6", "b"), anItem("2", "a")),
      });
      helpers.expectObservable(only(event$, "started")).toBe("(16)-2");
    }));

  it("drops the oldest when an agent's queue is full, and says so", () =>
    marbles((helpers) => {
      const configs = { a: changeOf("a", { queueSize: 1 }) };
      const changes = " a---------";
      const webhooks = "-123-------";
      const started = " -1----3---";
      const dropped = " ---2-------";
      const event$ = drawn(helpers, { changes, configs, webhooks });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "refused")).toBe(dropped);
    }));

  it("shares the project's slots among agents, first come first served", () =>
    marbles((helpers) => {
      const changes = " (ab)";
      const webhooks = "----162";
      const started = " ----1----6----2";
      const event$ = drawn(helpers, { changes, webhooks }, { slots: createSlots(1) });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("survives a burst of a thousand items", () =>
    marbles((helpers) => {
      const outcomes = new Map<string, number>();
      const count = ({ type }: RunEvent): void => {
        outcomes.set(type, (outcomes.get(type) ?? 0) + 1);
      };
      const burst = Array.from({ length: 1000 }, (_, index) => anItem(`${index}`, "a"));
      graphOf(helpers.scheduler, {
        agentChange$: of(changeOf("a", { queueSize: 9 })),
        webhook$: of(...burst),
      })
        .pipe(tap(count))
        .subscribe();
      helpers.flush();
      expect(outcomes.get("finished")).toBe(10);
      expect(outcomes.get("refused")).toBe(990);
    }));

  it("shows every reader one order, when an agent calls another in the middle of an event", () =>
    marbles((helpers) => {
      const call$ = new Subject<WorkItem>();
      const event$ = graphOf(helpers.scheduler, {
        agentChange$: of(changeOf("a"), changeOf("b")),
        manual$: helpers.hot("-1", { "1": anItem("1", "a") }),
        call$,
      });
      const seen: [string[], string[]] = [[], []];
      const told = (event: RunEvent): string => `${event.agent} ${event.type}`;
      event$.subscribe((event) => {
        seen[0].push(told(event));
        if (event.type === "started" && event.agent === "a") call$.next(anItem("6", "b"));
      });
      event$.subscribe((event) => seen[1].push(told(event)));
      helpers.flush();
      expect(seen[1].filter((text) => text.endsWith("started"))).toEqual([
        "a started",
        "b started",
      ]);
      expect(seen[0].slice(-4)).toEqual(seen[1].slice(-4));
    }));
});
