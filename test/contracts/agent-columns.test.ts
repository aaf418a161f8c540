import { expect, test } from "vitest";
import { agentColumns } from "../../src/contracts/agent-columns.ts";
import type { AgentStatus } from "../../streams/status/wire.ts";
import { anAgentStatus } from "../helpers/agent-status.ts";

const now = Date.parse("2026-11-22T12:00:00Z");
const tomorrow = "2026-11-23T00:00:00.000Z";

test.each<[AgentStatus["spentToday"], string]>([
  [null, ""],
  [{ usd: 0, endsAt: tomorrow }, "$0.00"],
  [{ usd: 0.00213, endsAt: tomorrow }, "$0.0021"],
  [{ usd: 12.345, endsAt: tomorrow }, "$12.35"],
  [{ usd: 12.345, endsAt: "2026-11-22T12:00:00.000Z" }, ""],
])("the cost of today of %j is %j", (spentToday, text) => {
  const column = agentColumns.find(({ title }) => title === "Cost Today");
  const moment = { now, paused: false, draining: false };
  expect(column?.value(anAgentStatus("dev", { spentToday }), moment).text).toBe(text);
});
