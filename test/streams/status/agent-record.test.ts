import type { Outcome } from "../../../streams/outcomes.ts";
import {
  newRecord,
  stateOf,
  toAgentStatus,
  withEarlierRun,
} from "../../../streams/status/agent-record.ts";
import type { AgentRecord } from "../../../streams/status/agent-record.ts";
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

test.each<[state: string, when: string, record: Partial<AgentRecord>]>([
  ["error", "with an invalid config and unmet requirements", { unmet, ...error }],
  [
    "error",
    "over budget with onLimit stop after a run that failed otherwise",
    { ...stops, runError },
  ],
  [
    "blocked: budget",
    "over budget with onLimit stop after its last run",
    { ...stops, runError: "over budget: of the day" },
  ],
  ["running", "over budget with onLimit stop while a run lives", { ...stops, running: 1 }],
  ["waiting: budget", "over budget with onLimit pause", pauses],
  [
    "waiting: person",
    "if its run waits for an answer and for budget",
    { running: 1, questions: asked("dev-1"), ...short },
  ],
  ["running", "if one of two runs waits for an answer", { running: 2, questions: asked("dev-1") }],
  [
    "waiting: budget",
    "if one run waits for budget, the other for a lock",
    { running: 2, ...short, lockWaits: waits(["dev-2", 1]) },
  ],
  ["building", "while its image is built", { building: true, running: 1, runError }],
  ["blocked: machine", "while the machine can't start its run", { ...machine, runError }],
])("the state of an agent is %j %s", (state, _when, more) => {
  const { state: name, blockedBy } = stateOf(record(more));
  expect([name, ...(blockedBy === null ? [] : [blockedBy])].join(": ")).toBe(state);
});

test("the status row of an agent names its triggers, each once, its runtime and its models", () => {
  const config = anAgent("dev", {
    schedule: "0 9 * * *",
    webhooks: [
      { source: "hub", type: "github", filters: {} },
      { source: "hub", type: "github", filters: { events: ["push"] } },
      { source: "errors", type: "sentry", filters: {} },
    ],
  });
  expect(row({ config })).toMatchObject({
    triggers: ["schedule 0 9 * * *", "webhook hub", "webhook errors"],
    runtime: "host-user",
    models: ["scripted"],
  });
});

test("the status row of an agent without a config has the directory's name as title", () =>
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
  ["the config's error rather than others", errors, "config"],
  ["the build's error rather than a run's", { ...errors, configError: null }, "build"],
  ["no error of the last run while one runs", busy, null],
  [
    "why the machine can't start its runs",
    machine,
    "the machine can't start its runs now: no space left",
  ],
])("the status row of an agent shows %s", (_what, of, error) =>
  expect(row(of)).toMatchObject({ error }),
);

test.each([
  ["disabled", "if a person disabled it", false, { enabled: false }],
  ["disabled", "with scale 0", false, { config: anAgent("dev", { scale: 0 }) }],
])("the status row of an agent is %s %s", (_state, _why, enabled, more) =>
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
])(
  "the status row of an agent contains the last run of an earlier scheduler: %s",
  (outcome, reason, endedAt, expected) => {
    const run = withEarlierRun({ startedAt: 1000, endedAt, outcome, reason });
    expect(row(run)).toMatchObject(expected);
  },
);
