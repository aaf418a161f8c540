import { expect, test } from "vitest";
import { createRedactor } from "../../src/credentials/redactor.ts";
import { createJournal } from "../../src/start/journal.ts";
import type { LogEntry, RunEvent } from "../../streams/vocabulary.ts";
import { anItem } from "../helpers/agents.ts";

const secret = "hunter2-secret";

/** A journal that keeps what it tells the operator, and knows one secret. */
function setUp() {
  const redactor = createRedactor();
  redactor.add([secret]);
  const told: LogEntry[] = [];
  const journal = createJournal({
    write: () => undefined,
    tell: (entry) => told.push(entry),
    status: () => undefined,
    redact: (entry) => redactor.redactValue(entry) as LogEntry,
  });
  return { journal, told };
}

test("the operator is told of a run without the secrets of its prompt", () => {
  const { journal, told } = setUp();
  const item = anItem("1", "dev", { kind: "manual", prompt: `use ${secret}` });
  const started: RunEvent = { type: "started", agent: "dev", at: 0, item, instanceId: "dev-1" };
  journal.event(started);
  expect(told).toMatchObject([
    { agent: "dev", time: 0, trigger: { kind: "manual", prompt: "use [redacted]" } },
  ]);
});

test("what the scheduler says of itself holds no secret either", () => {
  const { journal, told } = setUp();
  journal.say(40, `no ${secret}`);
  expect(told).toMatchObject([{ level: 40, agent: "scheduler", msg: "no [redacted]" }]);
});

test("what agents say is left to their logs", () => {
  const { journal, told } = setUp();
  const entry = { level: 30, time: 0, msg: "hello", agent: "dev" } as const;
  journal.event({ type: "output", agent: "dev", at: 0, instanceId: "dev-1", entry });
  expect(told).toEqual([]);
});
