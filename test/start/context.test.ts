import { logEvents, startWarnings } from "../../src/start/context.ts";
import type { LogEntry, RunEvent } from "../../streams/vocabulary.ts";
import { anItem } from "../helpers/agents.ts";
import { schedulerContext } from "../helpers/scheduler-context.ts";
import { webhookItem } from "../foundation/store/support.ts";

const secret = "hunter2-secret";

/** Logs the event; returns the lines on the terminal. */
function printed(event: RunEvent): readonly LogEntry[] {
  const context = schedulerContext();
  context.redactor.add([secret]);
  const lines: LogEntry[] = [];
  logEvents(context, (entry) => lines.push(entry))(event);
  return lines;
}

test("the scheduler's terminal shows a run's prompt without secrets", () => {
  const item = anItem("1", "dev", { kind: "manual", prompt: `use ${secret}` });
  expect(
    printed({ type: "started", agent: "dev", at: 0, item, instanceId: "dev-1" }),
  ).toMatchObject([
    { agent: "dev", time: 0, trigger: { kind: "manual", prompt: "use [redacted]" } },
  ]);
});

test("agents' output is written only to the agents' logs", () => {
  const entry = { level: 30, time: 0, msg: "hello", agent: "dev" } as const;
  expect(printed({ type: "output", agent: "dev", at: 0, instanceId: "dev-1", entry })).toEqual([]);
});

test("a scheduler's start without problems logs nothing", () =>
  expect(startWarnings({}, { lost: [], neverBegun: [] })).toEqual([]));

test("a scheduler's start warns that AL_DASHBOARD_SECRET is unused, without its value", () => {
  const [warning] = startWarnings({ AL_DASHBOARD_SECRET: "hush" }, { lost: [], neverBegun: [] });
  expect(warning).toContain("AL_DASHBOARD_SECRET");
  expect(warning).not.toContain("hush");
});

test("a lost run is logged with the state of its work", () => {
  const item = webhookItem("w1", "r1");
  const lost = {
    item,
    instanceId: "dev-aaaaaaaa",
    startedAt: 1,
    waitedMs: 0,
    leftByStop: false,
    outcome: "lost",
  } as const;
  const both = [
    { ...lost, retry: { ...item, id: "w2", attempt: 2 } },
    { ...lost, retry: null },
  ];
  const [waits, once, twice] = startWarnings({}, { lost: both, neverBegun: [lost] });
  expect(waits).toMatch(/^1 run had not begun .* is queued again, as the same attempt$/);
  expect(once).toMatch(/dev-aaaaaaaa of agent dev .* its work is queued again/);
  expect(twice).toContain("it was the second attempt");
});
