import {
  agentColumns,
  causeFirst,
  errorToShow,
} from "../../../src/interfaces/views/agent-columns.ts";
import type { AgentStatus } from "../../../streams/status/wire.ts";
import { anAgentStatus } from "../../helpers/agent-status.ts";

const now = Date.parse("2026-11-22T12:00:00Z");
const tomorrow = "2026-11-23T00:00:00.000Z";

test.each<[AgentStatus["spentToday"], string]>([
  [null, ""],
  [{ usd: 0, endsAt: tomorrow }, "$0.00"],
  [{ usd: 0.00213, endsAt: tomorrow }, "$0.0021"],
  [{ usd: 12.345, endsAt: tomorrow }, "$12.35"],
  [{ usd: 12.345, endsAt: "2026-11-22T12:00:00.000Z" }, ""],
])("the column Cost Today shows %j as %j", (spentToday, text) => {
  const column = agentColumns.find(({ title }) => title === "Cost Today");
  const moment = { now, paused: false, draining: false };
  expect(column?.value(anAgentStatus("dev", { spentToday }), moment).text).toBe(text);
});

const used = { scope: "agent:dev", window: "2026-11-22", endsAt: tomorrow, usd: 4.99, limit: 5 };

test.each<[AgentStatus["usedBudget"], string]>([
  [
    { ...used, usd: 0, needed: 5.83, onLimit: "pause" },
    "daily budget too small for the next call: $0.00 of $5.00 spent, the call needs at least $5.83; resets in 12 h",
  ],
  [
    { ...used, scope: "project", window: "2026-11", onLimit: "stop" },
    "the project's monthly budget used up: $4.99 of $5.00 spent; resets in 12 h",
  ],
])("the list of agents shows the used-up budget %j as %j", (usedBudget, text) => {
  const column = agentColumns.find(({ title }) => title === "Status");
  const moment = { now, paused: false, draining: false };
  const agent = anAgentStatus("dev", { usedBudget, statusText: "done" });
  expect(column?.value(agent, moment)).toEqual({ text, tone: "warning" });
});

test.each([
  ["over budget: the call needs more", null],
  ["agents/dev/config.toml:4:12  it is broken", "agents/dev/config.toml:4:12  it is broken"],
])("errorToShow of %j returns %j if the budget is used up", (error, shown) => {
  const usedBudget = { ...used, onLimit: "pause" } as const;
  const agent = anAgentStatus("dev", { usedBudget, error, lastOutcome: "over_budget" });
  expect(errorToShow(agent)).toBe(shown);
  expect(errorToShow({ ...agent, usedBudget: null })).toBe(error);
});

test.each([
  [
    'agents/dev/config.toml:4:12  schedule "x" is wrong; use five fields (and 1 more)',
    'schedule "x" is wrong; use five fields (and 1 more) · agents/dev/config.toml:4:12',
  ],
  ["agents/dev/config.toml  no credential", "no credential · agents/dev/config.toml"],
  ["failed: no route to host · pre hook exited", "no route to host · pre hook exited"],
  ["timed out", "timed out"],
])("the list of agents shows the error %j as %j", (error, shown) =>
  expect(causeFirst(error)).toBe(shown),
);
