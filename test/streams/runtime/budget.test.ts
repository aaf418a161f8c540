import type { OverBudget } from "../../../streams/agent-graph.ts";
import { marbles, minutes } from "../../helpers/marbles.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { changeOf, drawn, shows } from "../graph.ts";

const reason = "budget: all is spent";

test("the scheduler holds the queue of an agent that waits for budget, and lets its run finish", () =>
  shows(
    {
      changes: " a",
      webhooks: "-12",
      started: " -1--------2",
      finished: "------1--------2",
    },
    {
      sources: ({ cold }) => ({
        waitForMoney$: cold<ReadonlySet<string>>("f-h-------f", {
          h: new Set(["a"]),
          f: new Set(),
        }),
      }),
    },
  ));

test("the scheduler rejects work and skips ticks over budget with onLimit stop, with the reason", () => {
  const refused: unknown[] = [];
  const overBudget = (): OverBudget => ({ reason, onLimit: "stop" });
  const minutely = { a: changeOf("a", { schedule: "* * * * *" }) };
  marbles((helpers) => {
    const lines = { changes: "a", configs: minutely, webhooks: "1" };
    const event$ = drawn(helpers, lines, { overBudget }, minutes);
    event$.subscribe((event: RunEvent) => {
      expect(event.type).not.toBe("started");
      if (event.type === "refused") refused.push([event.item.id, event.outcome, event.reason]);
    });
    helpers.scheduler.maxFrames = 90_000;
    helpers.flush();
  });
  expect(refused).toEqual([
    ["1", "rejected", reason],
    ["new-1", "skipped", reason],
  ]);
});
