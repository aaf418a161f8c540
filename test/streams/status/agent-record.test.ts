import {
  newRecord,
  stateOf,
  toAgentStatus,
  withEarlierRun,
} from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import type { Outcome } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { aProblem } from "./events.ts";

const record = (more: Partial<AgentRecord> = {}): AgentRecord => ({ ...newRecord("dev"), ...more });
const row = (more: Partial<AgentRecord> = {}) => toAgentStatus(record(more));

const runError = "failed: no key";

const unmet = [aProblem()];
const budget = { scope: "agent:dev", window: "2026-11", endsAt: 1, usd: 1, limit: 1 };
const stops = { usedBudget: { ...budget, onLimit: "stop" } } as const;
const pauses = { usedBudget: { ...budget, onLimit: "pause" } } as const;

const asked = (instanceId: string) => new Map([["question", instanceId]]);
const waits = (...byRun: readonly [string, number][]) => new Map(byRun);

const error = { configError: "scale is not a number" };
const machine = { blocked: new Map([["dev-1", "no space left"]]), running: 1 };
const short = { moneyWaits: new Set(["dev-1"]) };

test.each<[string, Partial<AgentRecord>]>([
  ["error", { runError }],
  ["blocked image", { buildError: "no base image", runError }],
  ["blocked requirement", { unmet, runError }],
  ["error", { unmet, ...error }],
  ["error", { ...stops, runError }],
  ["blocked budget", { ...stops, runError: "over budget: of the day" }],
  ["running", { ...stops, running: 1 }],
  ["waiting budget", pauses],
  ["running", { ...pauses, running: 1 }],
  ["waiting lock", { running: 2, lockWaits: waits(["dev-1", 1], ["dev-2", 2]) }],
  ["running", { running: 2, lockWaits: waits(["dev-1", 2]) }],
  ["waiting person", { running: 1, questions: asked("dev-1"), ...short }],
  ["running", { running: 2, questions: asked("dev-1") }],
  ["running", { running: 2, ...short, lockWaits: waits(["dev-1", 1]) }],
  ["waiting budget", { running: 2, ...short, lockWaits: waits(["dev-2", 1]) }],
  ["error", error],
  ["running", { running: 1, ...error }],
  ["building", { building: true, running: 1, runError }],
  ["blocked machine", { ...machine, runError }],
])("the state of an agent is %s with %j", (state, more) => {
  const { state: name, blockedBy } = stateOf(record(more));
  expect([name, ...(blockedBy === null ? [] : [blockedBy])].join(" ")).toBe(state);
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

const errors = { configError: "config", buildError: "build", runError: "run" };
const busy = { running: 1, runError: "run" };

test.each<[what: string, of: Partial<AgentRecord>, error: string | null]>([
  ["of the config first", errors, "config"],
  ["of the build next", { ...errors, configError: null }, "build"],
  ["of the last run no more while one runs", busy, null],
  ["of the config also while one runs", { ...busy, configError: "config" }, "config"],
  ["of the machine", machine, "the machine can't start its runs now: no space left"],
])("the row of an agent shows its error: %s", (_what, of, error) =>
  expect(row(of)).toMatchObject({ error }),
);

test.each([
  [true, {}],
  [false, { enabled: false }],
  [false, { config: anAgent("dev", { scale: 0 }) }],
])("the row of an agent is enabled by hand and with a scale: %s", (enabled, more) =>
  expect(row({ config: anAgent("dev"), ...more })).toMatchObject({ enabled }),
);

test.each<[outcome: Outcome, reason: string | null, endedAt: number | null, row: object]>([
  [
    "failed",
    "no key",
    3500,
    {
      state: "error",
      error: "failed: no key",
      lastRunAt: "1970-01-01T00:00:01.000Z",
      lastDurationMs: 2500,
      lastOutcome: "failed",
    },
  ],
  ["lost", null, null, { error: "lost", lastDurationMs: null }],
  ["succeeded", null, 3500, { error: null }],
])(
  "the row of an agent remembers the last run of an earlier scheduler: %s, %s",
  (outcome, reason, endedAt, expected) => {
    const run = withEarlierRun({ startedAt: 1000, endedAt, outcome, reason });
    expect(row(run)).toMatchObject(expected);
  },
);
