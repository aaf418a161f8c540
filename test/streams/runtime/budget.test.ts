import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import type { OverBudget } from "../../../streams/agent-graph.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { marbles, minutes } from "../../helpers/marbles.ts";
import { changeOf, drawn, only } from "../graph.ts";

const reason = "budget: all is spent";
const waiting: Record<string, ReadonlySet<string>> = { h: new Set(["a"]), f: new Set() };

describe("the graph: agents without money", () => {
  it("holds the queue of one that waits for money, and lets its run go on", () =>
    marbles((helpers) => {
      const changes = " a--------------";
      const held = "    f-h-------f----";
      const webhooks = "-12------------";
      const started = " -1--------2----";
      const finished = "------1--------2";
      const waitForMoney$ = helpers.cold(held, waiting);
      const event$ = drawn(helpers, { changes, webhooks }, {}, undefined, { waitForMoney$ });
      helpers.expectObservable(only(event$, "started")).toBe(started);
      helpers.expectObservable(only(event$, "finished")).toBe(finished);
    }));

  it("holds it from the start when it is out of money then", () =>
    marbles((helpers) => {
      const changes = " a------";
      const held = "    h--f---";
      const webhooks = "-1-----";
      const started = " ---1---";
      const overBudget = (): OverBudget | null =>
        helpers.scheduler.now() < 3 ? { reason, onLimit: "pause" } : null;
      const waitForMoney$ = helpers.cold(held, waiting);
      const event$ = drawn(helpers, { changes, webhooks }, { overBudget }, undefined, {
        waitForMoney$,
      });
      helpers.expectObservable(only(event$, "started")).toBe(started);
    }));

  it("starts a run of one that pauses for what comes before it is held, as the run waits itself", () =>
    marbles((helpers) => {
      const overBudget = (): OverBudget => ({ reason, onLimit: "pause" });
      const event$ = drawn(helpers, { changes: "a", webhooks: "-1" }, { overBudget });
      helpers.expectObservable(only(event$, "started"), "^----!").toBe("-1");
      helpers.expectObservable(only(event$, "refused"), "^----!").toBe("-");
    }));

  it("skips its ticks with the reason", () =>
    marbles((helpers) => {
      const configs = { a: changeOf("a", { schedule: "* * * * *" }) };
      const waitForMoney$ = helpers.cold("h", waiting);
      const event$ = drawn(helpers, { changes: "a", configs }, {}, minutes, { waitForMoney$ });
      const refused$ = only(event$, "refused");
      helpers.expectObservable(refused$, "90s !").toBe("60s c");
    }));

  it("starts no run of one that stops, and gives the reason: work is a dead letter, a tick is skipped", () =>
    marbles((helpers) => {
      const overBudget = (): OverBudget => ({ reason, onLimit: "stop" });
      const configs = { a: changeOf("a", { schedule: "* * * * *" }) };
      const lines = { changes: "a", configs, webhooks: "1" };
      const events: RunEvent[] = [];
      const event$ = drawn(helpers, lines, { overBudget }, minutes);
      const refused$ = event$.pipe(
        map((event) => {
          events.push(event);
          return event.type;
        }),
      );
      refused$.subscribe();
      helpers.scheduler.maxFrames = 90_000;
      helpers.flush();
      const refused = events.flatMap((event) =>
        event.type === "refused" ? [[event.item.id, event.outcome, event.reason]] : [],
      );
      expect(refused).toContainEqual(["1", "rejected", reason]);
      expect(refused).toContainEqual(["new-1", "skipped", reason]);
      expect(events.some(({ type }) => type === "started")).toBe(false);
    }));
});
