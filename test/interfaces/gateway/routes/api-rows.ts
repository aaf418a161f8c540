import { emptyWhyNot } from "../../../helpers/empty-why-not.ts";
import * as samples from "./api-samples.ts";

const { at, dead, deniedHost, difference, lock, question, receiptId, refused, run } = samples;
const { open, spending, targets, tree } = samples;

interface Expected {
  readonly payload?: object;
  readonly status?: number;
  /** Fields of the answer. */
  readonly answer?: object;
  /** The call of the operations. */
  readonly call?: string;
  /** How the audit trail has it; undefined if it has nothing. */
  readonly act?: object;
}
type Row = [request: string, expected: Expected];
const dev = { agent: "dev" };
const runOfDev = { ...dev, instanceId: "dev-abcdefgh" };

/** Each request that the operator API accepts, and its answer. */
export const rows: readonly Row[] = [
  ["POST /control/pause", { call: "setPaused true", act: { act: "pause" } }],
  [
    "POST /control/pause",
    {
      payload: { work: true },
      answer: { success: true, paused: true, pausedWork: true },
      call: "setPaused true work",
      act: { act: "pause", detail: "all new work" },
    },
  ],
  [
    "POST /control/kill",
    {
      answer: { killed: 0 },
      call: "killAll",
      act: { act: "kill", detail: "0 runs of all agents" },
    },
  ],
  [
    "POST /control/resume",
    { answer: { paused: false }, call: "setPaused false", act: { act: "resume" } },
  ],
  [
    "POST /control/stop",
    { payload: { now: true }, status: 202, act: { act: "stop", detail: "0 runs, now" } },
  ],
  ["POST /control/login-link", { act: { act: "login-link" } }],
  ...(["enable", "resume", "disable", "pause"] as const).map((word): Row => {
    const enabled = word === "enable" || word === "resume";
    const expected = { answer: { agent: "dev", enabled }, call: `setEnabled dev ${enabled}` };
    const act = { ...dev, act: enabled ? "enable" : "disable" };
    return [`POST /control/agents/dev/${word}`, { ...expected, act }];
  }),
  [
    "POST /control/agents/dev/kill",
    {
      answer: { killed: 0 },
      call: "killAgent dev",
      act: { ...dev, act: "kill", detail: "0 runs" },
    },
  ],
  [
    "POST /control/kill/dev-abcdefgh",
    { call: "killInstance dev-abcdefgh", act: { ...runOfDev, act: "kill" } },
  ],
  [
    "POST /control/trigger/dev",
    {
      payload: { prompt: "hurry" },
      status: 202,
      answer: { ...runOfDev, triggerId: "t1", queued: false },
      call: "trigger dev hurry",
      act: { ...runOfDev, act: "trigger", detail: "hurry" },
    },
  ],
  [
    "POST /control/trigger/dev",
    { status: 202, call: "trigger dev null", act: { ...runOfDev, act: "trigger" } },
  ],
  [
    "POST /api/runs/dev-abcdefgh/steer",
    {
      payload: { text: "be brief" },
      status: 202,
      act: { ...runOfDev, act: "steer", detail: "be brief" },
    },
  ],
  [
    "POST /api/runs/dev-abcdefgh/continue",
    {
      payload: { prompt: "and now" },
      status: 202,
      act: { ...runOfDev, act: "continue", detail: "dev-zyxwvuts: and now" },
    },
  ],
  ["GET /locks/status", { answer: { locks: [lock] } }],
  [
    "GET /api/stats/triggers",
    {
      answer: { triggers: [], total: 0, nextBefore: null },
      call: 'history {"page":1,"limit":50}',
    },
  ],
  [
    "GET /api/stats/triggers?page=2&limit=10&deadLetter=true&agent=dev&kind=cron&outcome=failed",
    {
      call: 'history {"page":2,"limit":10,"deadLetter":true,"agent":"dev","kind":"cron","outcome":"failed"}',
    },
  ],
  ["GET /api/stats/triggers/a/calls", { answer: tree }],
  [
    `GET /api/stats/refused-deliveries?source=hub&since=${at}`,
    {
      answer: { deliveries: [refused] },
      call: `refusedDeliveries {"source":"hub","since":"${at}","limit":50}`,
    },
  ],
  ["GET /api/agents/dev/why-not?limit=5", { answer: emptyWhyNot }],
  ["GET /api/runs/dev-bbbbbbbb", { answer: run }],
  [
    "GET /api/runs/dev-bbbbbbbb/diff",
    { answer: difference, call: "runDifference dev-bbbbbbbb null" },
  ],
  [
    "GET /api/runs/dev-bbbbbbbb/diff?to=dev-aaaaaaaa",
    { call: "runDifference dev-bbbbbbbb dev-aaaaaaaa" },
  ],
  ["GET /api/agents/dev/hosts", { answer: { days: 30, denied: [deniedHost] } }],
  [
    "POST /api/agents/dev/allow-host",
    {
      payload: { host: "db.lan", port: 5432, private: true },
      call: "allowHost dev db.lan 5432 true false",
      act: { ...dev, act: "allow-host", detail: "db.lan:5432 private" },
    },
  ],
  [
    "POST /api/agents/dev/allow-host",
    {
      payload: { host: "api.evil.test", dryRun: true },
      answer: { entry: "api.evil.test", written: false },
      call: "allowHost dev api.evil.test 443 false true",
    },
  ],
  ["GET /api/agents/dev/files", { answer: { isEditable: true } }],
  [
    "POST /api/agents/dev/files",
    {
      payload: { file: "config.toml", text: "", hash: "h", dryRun: true },
      answer: { file: "agents/dev/config.toml", written: false },
      call: "editFile dev config.toml true",
    },
  ],
  [
    "POST /api/agents/dev/files",
    {
      payload: { file: "SKILL.md", text: "Go.", hash: "h" },
      answer: { written: true },
      call: "editFile dev SKILL.md false",
      act: { ...dev, act: "edit" },
    },
  ],
  [
    `GET /api/spend?by=agent&agent=dev&since=${at}`,
    { answer: spending, call: `spend {"by":"agent","since":"${at}","agent":"dev"}` },
  ],
  ["GET /api/spend", { call: 'spend {"by":"day"}' }],
  [
    "POST /api/budgets/run%3Adev-abcdefgh/raise",
    {
      payload: { usd: 2.5 },
      answer: { scope: "run:dev-abcdefgh", limits: [] },
      call: "raiseBudget run:dev-abcdefgh 2.5",
      act: { ...runOfDev, act: "raise", detail: "run:dev-abcdefgh by $2.50" },
    },
  ],
  [`GET /api/stats/webhooks/${receiptId}`, { answer: { receiptId, matched: ["dev"] } }],
  [
    `POST /api/webhooks/${receiptId}/replay?agent=dev`,
    {
      answer: { receiptId, matched: [runOfDev] },
      call: `replay ${receiptId} dev`,
      act: { ...runOfDev, act: "replay", detail: `${receiptId}: 1 agent` },
    },
  ],
  [
    "POST /api/triggers/t1/replay",
    {
      answer: { receiptId: null, matched: [{ replayOf: "t1" }] },
      call: "replayTrigger t1",
      act: { ...dev, act: "replay", detail: "t1: 1 agent" },
    },
  ],
  ["GET /api/alerts", { answer: { targets, open, next: null }, call: 'alerts {"limit":50}' }],
  [
    `GET /api/alerts?state=dead&target=ops&before=${dead.id}&limit=7`,
    { call: `alerts {"state":"dead","target":"ops","before":"${dead.id}","limit":7}` },
  ],
  [
    `POST /api/alerts/${dead.id}/retry`,
    { status: 202, answer: { id: dead.id }, act: { act: "alert-retry", detail: dead.id } },
  ],
  [
    "POST /api/alerts/retry",
    { status: 202, answer: { retried: 1 }, act: { act: "alert-retry", detail: "1 alert" } },
  ],
  [
    "POST /api/alerts/ack",
    {
      payload: { ...dev, by: "anna", until: "2026-11-23T00:00:00Z" },
      call: 'acknowledgeAlerts {"by":"anna","agent":"dev","until":"2026-11-23T00:00:00Z"}',
      act: { ...dev, act: "ack" },
    },
  ],
  [
    "POST /api/alerts/ack",
    {
      payload: { ...dev, topic: "runs", undo: true },
      call: 'acknowledgeAlerts {"by":"the API","agent":"dev","topic":"runs","undo":true}',
      act: { ...dev, act: "ack", detail: "undone" },
    },
  ],
  [
    "POST /api/alerts/targets/ops/test",
    { answer: { accepted: true, error: null }, act: { act: "alert-test", detail: "ops" } },
  ],
  [
    "POST /api/tokens",
    {
      payload: { name: "claude", scopes: ["read"], agents: ["dev"], days: 1 },
      status: 201,
      act: { act: "token-new", detail: "claude: read of dev, for 1 day" },
    },
  ],
  ["POST /api/tokens/old/remove", { act: { act: "token-remove", detail: "old" } }],
  ["GET /api/questions?state=open", { answer: { questions: [question], next: null } }],
  [`GET /api/questions/${question.id}`, { answer: question }],
  [
    // The question's store records it in the transaction of the answer.
    `POST /api/questions/${question.id}/answer`,
    {
      payload: { answer: "Yes" },
      answer: { state: "answered", answer: "yes", by: { via: "key" } },
    },
  ],
];
