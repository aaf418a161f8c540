import {
  newRecord,
  stateOf,
  toAgentStatus,
  withEarlierRun,
} from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { anAgent } from "../../helpers/agents.ts";

const record = (more: Partial<AgentRecord> = {}): AgentRecord => ({ ...newRecord("dev"), ...more });
const row = (more: Partial<AgentRecord> = {}) => toAgentStatus(record(more));

const runError = "failed: no key";

const unmet = [
  { severity: "error", file: "a", line: null, column: null, message: "no key" },
] as const;
const budget = { scope: "agent:dev", window: "2026-11", endsAt: 1, usd: 1, limit: 1 };
const stops = { usedBudget: { ...budget, onLimit: "stop" } } as const;
const pauses = { usedBudget: { ...budget, onLimit: "pause" } } as const;

const asked = (instanceId: string) => new Map([["question", instanceId]]);
const waits = (...byRun: readonly [string, number][]) => new Map(byRun);

test.each<[string, Partial<AgentRecord>]>([
  ["idle", {}],
  ["error", { runError }],
  ["blocked image", { buildError: "no base image", runError }],
  ["blocked requirement", { unmet, runError }],
  ["error", { unmet, configError: "scale is not a number" }],
  ["error", { ...stops, runError }],
  ["blocked budget", { ...stops, runError: "over budget: of the day" }],
  ["running", { ...stops, running: 1 }],
  ["waiting budget", pauses],
  ["running", { ...pauses, running: 1 }],
  ["waiting lock", { running: 2, lockWaits: waits(["dev-1", 1], ["dev-2", 2]) }],
  ["running", { running: 2, lockWaits: waits(["dev-1", 2]) }],
  ["waiting budget", { running: 1, moneyWaits: new Set(["dev-1"]) }],
  ["waiting person", { running: 1, questions: asked("dev-1"), moneyWaits: new Set(["dev-1"]) }],
  ["running", { running: 2, questions: asked("dev-1") }],
  ["running", { running: 2, moneyWaits: new Set(["dev-1"]), lockWaits: waits(["dev-1", 1]) }],
  [
    "waiting budget",
    { running: 2, moneyWaits: new Set(["dev-1"]), lockWaits: waits(["dev-2", 1]) },
  ],
  ["error", { configError: "scale is not a number" }],
  ["running", { running: 2, runError }],
  ["running", { running: 1, configError: "scale is not a number" }],
  ["building", { building: true, running: 1, runError }],
  ["blocked machine", { blocked: new Map([["dev-1", "no space left"]]), running: 1, runError }],
])("the state of an agent is %s with %j", (state, more) => {
  const { state: name, blockedBy } = stateOf(record(more));
  expect([name, ...(blockedBy === null ? [] : [blockedBy])].join(" ")).toBe(state);
});

test("the row of an agent shows why the machine can't start its runs", () => {
  const error = "the machine can't start its runs now: no space left";
  expect(row({ blocked: new Map([["dev-1", "no space left"]]), running: 1 })).toMatchObject({
    state: "blocked",
    error,
  });
});

test("the row of an agent shows the settings of its config", () => {
  const config = anAgent("dev", {
    title: "Developer",
    description: "writes",
    license: "MIT",
    schedule: "0 9 * * *",
    scale: 2,
    queueSize: 7,
    webhooks: [
      { source: "hub", type: "github", filters: {} },
      { source: "hub", type: "github", filters: { events: ["push"] } },
      { source: "errors", type: "sentry", filters: {} },
    ],
  });
  expect(row({ config })).toMatchObject({
    name: "dev",
    title: "Developer",
    description: "writes",
    license: "MIT",
    scale: 2,
    queueSize: 7,
    triggers: ["schedule 0 9 * * *", "webhook hub", "webhook errors"],
    runtime: "host-user",
    models: ["scripted"],
  });
});

test("the row of an agent has its directory's name without a config", () =>
  expect(row({ configError: "no models" })).toMatchObject({
    title: "dev",
    state: "error",
    error: "no models",
    triggers: [],
    models: [],
  }));

test("the row of an agent shows the error to fix first: config, then build, then run", () => {
  const errors = { configError: "config", buildError: "build", runError: "run" };
  expect(row(errors).error).toBe("config");
  expect(row({ ...errors, configError: null }).error).toBe("build");
  expect(row({ runError: "run" }).error).toBe("run");
  expect(row().error).toBeNull();
});

test("the row of an agent shows an earlier run's error only while none runs, and a config's always", () => {
  const running = { running: 1, runError: "timed out", statusText: "reading" };
  expect(row(running)).toMatchObject({ error: null, statusText: "reading" });
  expect(row({ ...running, configError: "config" }).error).toBe("config");
  expect(row({ ...running, running: 0 }).error).toBe("timed out");
});

test("the row of an agent is disabled by hand or by scale 0", () => {
  expect(row({ config: anAgent("dev") }).enabled).toBe(true);
  expect(row({ config: anAgent("dev"), enabled: false }).enabled).toBe(false);
  expect(row({ config: anAgent("dev", { scale: 0 }) }).enabled).toBe(false);
});

test("the row of an agent has times in UTC, and null for events that never happened", () => {
  const lastRunAt = Date.UTC(2026, 4, 4, 9);
  expect(row({ lastRunAt, nextRunAt: lastRunAt + 1 })).toMatchObject({
    lastRunAt: "2026-05-04T09:00:00.000Z",
    nextRunAt: "2026-05-04T09:00:00.001Z",
  });
  expect(row()).toMatchObject({ lastRunAt: null, nextRunAt: null, lastOutcome: null });
});

test("the row of an agent remembers the last run of an earlier scheduler, with its error", () => {
  const run = { startedAt: 1000, endedAt: 3500, outcome: "failed", reason: "no key" } as const;
  expect(row(withEarlierRun(run))).toMatchObject({
    state: "error",
    error: "failed: no key",
    lastRunAt: "1970-01-01T00:00:01.000Z",
    lastDurationMs: 2500,
    lastOutcome: "failed",
  });
  const lost = withEarlierRun({ ...run, endedAt: null, outcome: "lost", reason: null });
  expect(row(lost)).toMatchObject({ error: "lost", lastDurationMs: null });
  expect(row(withEarlierRun({ ...run, outcome: "succeeded", reason: null })).error).toBeNull();
});
