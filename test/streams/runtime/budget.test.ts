import type { OverBudget } from "../../../streams/agent-graph.ts";
import { marbles, minutes, type Marbles } from "../../helpers/marbles.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { changeOf, drawn, shows } from "../graph.ts";

const reason = "budget: all is spent";
/** `h` holds the agent a for want of money, `f` frees it. */
const held =
  (diagram: string) =>
  ({ cold }: Marbles) => ({
    waitForMoney$: cold<ReadonlySet<string>>(diagram, { h: new Set(["a"]), f: new Set() }),
  });
const minutely = { a: changeOf("a", { schedule: "* * * * *" }) };

test("the graph holds the queue of an agent that waits for budget, and lets its run finish", () =>
  shows(
    {
      changes: " a--------------",
      webhooks: "-12------------",
      started: " -1--------2----",
      finished: "------1--------2",
    },
    { sources: held("f-h-------f----") },
  ));

test("the graph holds it from the start if the budget is used up then", () =>
  shows(
    { changes: "a------", webhooks: "-1-----", started: "---1---" },
    {
      sources: held("h--f---"),
      ports: ({ scheduler }) => ({
        overBudget: () => (scheduler.now() < 3 ? { reason, onLimit: "pause" } : null),
      }),
    },
  ));

test("the graph starts a run of an agent that pauses and is not held yet, as the run waits itself", () =>
  shows(
    { changes: "a", webhooks: "-1", started: "-1", refused: "-" },
    { until: "^----!", ports: () => ({ overBudget: () => ({ reason, onLimit: "pause" }) }) },
  ));

test("the graph skips its ticks", () =>
  shows(
    { changes: "a", configs: minutely, refused: "-c" },
    { columns: minutes, until: "--!", sources: held("h") },
  ));

test("the graph starts no run of one that stops, with the reason: work is a dead letter, a tick is skipped", () => {
  const refused: unknown[] = [];
  const overBudget = (): OverBudget => ({ reason, onLimit: "stop" });
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
  expect(refused).toContainEqual(["1", "rejected", reason]);
  expect(refused).toContainEqual(["new-1", "skipped", reason]);
});
