import { newRecord, toAgentStatus } from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { reduceAgent } from "../../../streams/status/reduce-agent.ts";
import type { AgentStatus } from "../../../streams/status/wire.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { aProblem, eventsOf } from "./events.ts";

const [at0, at5] = [eventsOf("dev", 0), eventsOf("dev", 5000)];

const after = (...events: readonly RunEvent[]): AgentRecord =>
  events.reduce(reduceAgent, newRecord("dev"));

const one = [at0.set(), at0.started()];
const two = [at0.set({ scale: 2 }), at0.started("dev-1"), at0.started("dev-2")];
const paid = [...two, at0.spent(0.1, 1.1), at0.spent(0.2, 1.3, "dev-2"), at0.spent(0.15, 1.35)];
const failed = [...one, at5.finished("failed", "no key")];
const text = { type: "status-text", agent: "dev", at: 0, instanceId: "dev-1", text: "" } as const;
const short = [...one, { ...text, needsMoney: true } as const];

const budget = {
  scope: "agent:dev",
  window: "1970-01-01",
  usd: 5,
  limit: 5,
  onLimit: "pause",
} as const;
const used = { type: "used-budget", agent: "dev", at: 0, text: "" } as const;
const spent = { ...used, budget: { ...budget, endsAt: 86_400_000 } };

const place = "agents/dev/config.toml:4:12  ";
const nextDay = "1970-01-02T00:00:00.000Z";
const warning = aProblem({ severity: "warning", message: "no key of the fallback" });
const lacking = [at0.set(), at0.requirements(aProblem(), warning)];

const container = at0.set({ runtime: { type: "container", runAs: "al-agent" } });
const building = [container, at0.buildStarted("step 1")];
const unbuilt = [...building, at5.buildFinished("no base")];

type Row = [what: string, events: readonly RunEvent[], row: Partial<AgentStatus>];

test.each<Row>([
  ["counts a run from its start", one, { running: 1, lastOutcome: null }],
  [
    "contains outcome and duration at a run's end",
    [...one, at5.finished()],
    { running: 0, state: "idle", lastDurationMs: 5000, lastOutcome: "succeeded" },
  ],
  [
    "contains the first start of an adopted run",
    [at0.set(), { ...at5.started(), startedAt: 3000 } as RunEvent],
    { running: 1, lastRunAt: "1970-01-01T00:00:03.000Z" },
  ],
  ["counts concurrent runs", two, { running: 2, runningUsd: null, spentToday: null }],
  [
    "adds up the spending of its running runs, and of today",
    paid,
    { runningUsd: 0.35, spentToday: { usd: 1.35, endsAt: nextDay } },
  ],
  [
    "adds the cost of a model call that ends after its run only to the day's spending",
    [...one, at5.finished(), at5.spent(0.1)],
    { runningUsd: null, spentToday: { usd: 0.1, endsAt: nextDay } },
  ],
  [
    "drops a used-up budget that was raised",
    [spent, { ...used, budget: null }],
    { usedBudget: null },
  ],
  [
    "drops the status text of an earlier run",
    [...one, at0.statusText("reading"), at5.started("dev-2")],
    { statusText: null },
  ],
  ["is waiting while its run waits for budget", short, { state: "waiting", blockedBy: "budget" }],
  ["is running once its run got budget", [...short, text], { state: "running" }],
  [
    "names the outcome of a failure without a reason",
    [...one, at5.finished("out_of_memory")],
    { error: "out of memory" },
  ],
  [
    "keeps a failure after a killed run",
    [...failed, at5.started(), at5.finished("killed")],
    { error: "failed: no key" },
  ],
  [
    "keeps the last good config while the files are invalid",
    [at0.set({ title: "good" }), at5.invalid(aProblem())],
    { title: "good", error: `${place}scale is not a number` },
  ],
  [
    "shows the first of many errors with the number of others",
    [at0.invalid(aProblem(), warning, aProblem(), aProblem())],
    { error: `${place}scale is not a number (and 2 more)` },
  ],
  ["shows an invalid config without a reason", [at0.invalid()], { error: "invalid config" }],
  [
    "is blocked while a requirement of its runs is unmet",
    lacking,
    {
      state: "blocked",
      blockedBy: "requirement",
      error: `${place}scale is not a number`,
      warning: `${place}no key of the fallback`,
    },
  ],
  [
    "drops a rejection when the requirement is met again",
    [...lacking, at0.started(), at5.finished("rejected", "no key"), at5.requirements(warning)],
    { state: "idle", error: null, warning: `${place}no key of the fallback` },
  ],
  [
    "keeps a failure when a requirement is met again",
    [...lacking, at0.started(), at5.finished("failed", "no luck"), at5.requirements()],
    { state: "error", error: "failed: no luck", warning: null },
  ],
  ["shows the start of a build", building, { state: "building", statusText: "step 1" }],
  [
    "shows the progress of a build",
    [...building, at5.buildProgress("step 2")],
    { statusText: "step 2" },
  ],
  [
    "shows the failure of a build",
    unbuilt,
    { state: "blocked", statusText: null, error: "no base" },
  ],
  ["keeps a failed build's error over a reload", [...unbuilt, container], { error: "no base" }],
  [
    "drops a build and its error when it no longer runs in a container",
    [...unbuilt, at0.buildStarted(), at5.set()],
    { state: "idle", statusText: null, error: null },
  ],
  ["is disabled", [at0.enabled(false)], { enabled: false }],
  [
    "drops the next run without a schedule",
    [at0.nextRun(9), at0.nextRun(null)],
    { nextRunAt: null },
  ],
])("the record of an agent %s", (_what, events, row) => {
  expect(toAgentStatus(after(...events))).toMatchObject(row);
});

test("the record of an agent contains whether the agent's directory is removed", () => {
  expect(after(at0.removed()).removed).toBe(true);
  expect(after(at0.removed(), at0.set()).removed).toBe(false);
  expect(after(at0.removed(), at0.invalid()).removed).toBe(false);
});

test("the record of an agent is the same object when an event changes no field", () => {
  const record = after(...paid);
  for (const event of [at0.queued(), at0.refused(), at0.output("hello"), at5.spent(0.15, 1.35)]) {
    expect(reduceAgent(record, event)).toBe(record);
  }
  const over = after(...one, at5.finished(), at5.spent(0.1));
  expect(reduceAgent(over, at5.spent(0.1))).toBe(over);
});
