import { of, Subject, tap } from "rxjs";
import { createSlots } from "../../../streams/runs/slots.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";
import { changeOf, graphOf, only, shows } from "../graph.ts";

test("the graph runs work from any source that is addressed to an agent, one at a time", () =>
  shows({
    changes: " a----------------",
    webhooks: "-1---------------",
    calls: "   --2--------------",
    manual: "  ---3-------------",
    started: " -1----2----3-----",
    finished: "------1----2----3",
  }));

test("the graph rejects waiting work that is withdrawn, of its own agent only", () =>
  shows(
    { changes: "(ab)", webhooks: "-123", refused: "-----2", started: "-1----3" },
    {
      sources: ({ hot }) => ({
        withdraw$: hot("----xy", {
          x: { agent: "b", itemId: "2", why: "withdrawn" as const },
          y: { agent: "a", itemId: "2", why: "withdrawn" as const },
        }),
      }),
    },
  ));

test("the graph runs agents beside each other", () =>
  shows({ changes: "(ab)", webhooks: "----16", started: "----16" }));

test("the graph rejects work for an unknown agent", () =>
  shows({ changes: "a----", webhooks: "-0-6-", refused: "-0-6-" }));

test("the graph starts work from before a restart before new work", () =>
  marbles((helpers) => {
    const event$ = graphOf(helpers.scheduler, {
      agentChange$: of(changeOf("a"), changeOf("i"), changeOf("b")),
      webhook$: of(anItem("1", "a"), anItem("6", "b"), anItem("2", "a")),
    });
    helpers.expectObservable(only(event$, "started")).toBe("(16)-2");
  }));

test("the graph drops the oldest when an agent's queue is full, and emits that", () =>
  shows({
    changes: " a---------",
    webhooks: "-123-------",
    started: " -1----3---",
    refused: " ---2-------",
    configs: { a: changeOf("a", { queueSize: 1 }) },
  }));

test("the graph shares the project's slots among agents, first come first served", () =>
  shows(
    { changes: "(ab)", webhooks: "----162", started: "----1----6----2" },
    { ports: () => ({ slots: createSlots(1) }) },
  ));

test("the graph survives a burst of a thousand items", () =>
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

test("the graph shows every reader one order, when an agent calls another during an event", () =>
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
    expect(seen[1].filter((text) => text.endsWith("started"))).toEqual(["a started", "b started"]);
    expect(seen[0].slice(-4)).toEqual(seen[1].slice(-4));
  }));
