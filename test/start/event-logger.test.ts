import { expect, test } from "vitest";
import { createRedactor } from "../../src/foundation/credentials/redactor.ts";
import { createEventLogger } from "../../src/start/observability.ts";
import type { LogEntry, RunEvent } from "../../streams/vocabulary.ts";
import { anItem } from "../helpers/agents.ts";

const secret = "hunter2-secret";

/** A logger that keeps what it tells the operator, and knows one secret. */
function setUp() {
  const redactor = createRedactor();
  redactor.add([secret]);
  const printed: LogEntry[] = [];
  const logger = createEventLogger({
    write: () => undefined,
    print: (entry) => printed.push(entry),
    status: () => undefined,
    redact: (entry) => redactor.redactValue(entry) as LogEntry,
  });
  return { logger, printed };
}

test("the operator is printed of a run without the secrets of its prompt", () => {
  const { logger, printed } = setUp();
  const item = anItem("1", "dev", { kind: "manual", prompt: `use ${secret}` });
  const started: RunEvent = { type: "started", agent: "dev", at: 0, item, instanceId: "dev-1" };
  logger.onEvent(started);
  expect(printed).toMatchObject([
    { agent: "dev", time: 0, trigger: { kind: "manual", prompt: "use [redacted]" } },
  ]);
});

test("the scheduler's own lines hold no secret either", () => {
  const { logger, printed } = setUp();
  logger.log(40, `no ${secret}`);
  expect(printed).toMatchObject([{ level: 40, agent: "scheduler", msg: "no [redacted]" }]);
});

test("output of agents is in their own logs only", () => {
  const { logger, printed } = setUp();
  const entry = { level: 30, time: 0, msg: "hello", agent: "dev" } as const;
  logger.onEvent({ type: "output", agent: "dev", at: 0, instanceId: "dev-1", entry });
  expect(printed).toEqual([]);
});
