/* oxlint-disable max-lines -- one table of all routes */
import type { InjectOptions } from "fastify";
import { UserError } from "../../../../src/foundation/errors.ts";
import type { ReceiptView } from "../../../../src/foundation/contracts/operator-api.ts";
import { emptyWhyNot } from "../../../helpers/empty-why-not.ts";
import type { OpenAlertView } from "../../../../src/features/alerts/alerts-report.ts";
import { aDelivery, aTarget } from "../../../helpers/fake-alerts.ts";
import type { FakeOperations } from "../../../helpers/fake-operations.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { aRunView } from "../../../helpers/run-view.ts";
import { logIn, openApp } from "../start-gateway.ts";

const at = "2026-11-22T08:00:00.000Z";
const receiptId = "0193a1b2-0000-7000-8000-000000000001";
const receipt: ReceiptView = {
  receiptId,
  at,
  source: "gh",
  type: "github",
  deliveryId: "d1",
  bytes: 12,
  reason: null,
  headers: {},
  matched: ["dev"],
  payload: { action: "opened" },
  text: null,
};
const entries = [historyEntry({ id: "a" })];
const tree = { context: "review it", value: { ok: true }, entries };
const version = { hash: "a".repeat(32), commit: null, dirty: null };
const difference = {
  from: { instanceId: "dev-aaaaaaaa", version },
  to: { instanceId: "dev-bbbbbbbb", version },
  changed: true,
  text: "--- a\n+++ b\n",
};
const run = aRunView("dev-bbbbbbbb");
const denied = {
  host: "api.evil.test",
  port: 443,
  attempts: 3,
  entry: "api.evil.test",
  lastAt: at,
  denied: "not_allowed" as const,
};
const refused = {
  ...({ type: "github", source: null, result: "unverified", count: 2 } as const),
  reason: "wrong",
  firstAt: at,
  lastAt: at,
};
const lock = {
  resource: "deploy",
  agent: "dev",
  instanceId: "dev-abcdefgh",
  heldSince: at,
  expiresAt: at,
};
const spending = { rows: [], limits: [], forecast: { monthUsd: 3.1, p90Usd: 7 } };
const targets = [aTarget("ops", { state: "failing", waiting: 1, lastError: "HTTP 503" })];
const open: readonly OpenAlertView[] = [
  { agent: "dev", topic: "runs", since: at, count: 2, reason: null, ack: null },
];
const dead = { state: "dead", attempts: 8, lastError: "HTTP 503" } as const;
const deliveries = () => [aDelivery(1), aDelivery(2, dead), aDelivery(3)];
const [, deadOne] = deliveries();
const deadId = deadOne?.id ?? "";
const replayed = (replayOf: string | null) => ({
  agent: "dev",
  outcome: "started",
  instanceId: "dev-abcdefgh",
  triggerId: "t-dev",
  replayOf,
});

function fill(operations: FakeOperations): void {
  operations.receipts.set(receiptId, receipt);
  operations.trees.set("a", tree);
  operations.runs.set("dev-bbbbbbbb", run);
  operations.differences.set("dev-bbbbbbbb", difference);
  operations.deniedHosts = [denied];
  operations.refusedNow.push(refused);
  operations.heldLocks.push(lock);
  operations.spending.set("agent", spending);
  Object.assign(operations.alerting, { targets, open, deliveries: deliveries() });
}

async function setUp() {
  const opened = await openApp();
  fill(opened.operations);
  const ask = (request: string, options: InjectOptions = {}) => {
    const [method = "", url = ""] = request.split(" ");
    return opened.get(url, { method: method as "GET", ...options });
  };
  return { ...opened, ask };
}

/** A request, its answer, and unless it is a 200 for a request without a body, what differs; the call of the operations. */
type Row = [request: string, answer: object, more?: Expected];
interface Expected {
  readonly payload?: object;
  readonly status?: number;
  readonly call?: string;
}
const ok = { success: true };

const answers: Row[] = [
  ["POST /control/pause", { ...ok, paused: true }, { call: "setPaused true" }],
  [
    "POST /control/pause",
    { ...ok, paused: true, pausedWork: true },
    { payload: { work: true }, call: "setPaused true work" },
  ],
  ["POST /control/kill", { ...ok, killed: 0 }, { call: "killAll" }],
  ["POST /control/resume", { ...ok, paused: false }, { call: "setPaused false" }],
  ...(["enable", "resume", "disable", "pause"] as const).map((word): Row => {
    const enabled = word === "enable" || word === "resume";
    const path = `POST /control/agents/dev/${word}`;
    return [path, { ...ok, agent: "dev", enabled }, { call: `setEnabled dev ${enabled}` }];
  }),
  ["POST /control/agents/dev/kill", { ...ok, killed: 0 }, { call: "killAgent dev" }],
  ["POST /control/kill/dev-abcdefgh", ok, { call: "killInstance dev-abcdefgh" }],
  [
    "POST /control/trigger/dev",
    { ...ok, agent: "dev", triggerId: "t1", instanceId: "dev-abcdefgh", queued: false },
    { payload: { prompt: "hurry" }, status: 202, call: "trigger dev hurry" },
  ],
  ["POST /control/trigger/dev", ok, { payload: {}, status: 202, call: "trigger dev null" }],
  ["POST /control/trigger/dev", ok, { status: 202, call: "trigger dev null" }],
  ["GET /locks/status", { locks: [lock] }],
  [
    "GET /api/stats/triggers",
    { triggers: [], page: 1, limit: 50, total: 0, nextBefore: null },
    { call: 'history {"page":1,"limit":50}' },
  ],
  [
    "GET /api/stats/triggers?page=2&limit=10&deadLetter=true&agent=dev&kind=cron&outcome=failed",
    { page: 2 },
    {
      call: 'history {"page":2,"limit":10,"deadLetter":true,"agent":"dev","kind":"cron","outcome":"failed"}',
    },
  ],
  ["GET /api/stats/triggers/a/calls", tree],
  [
    `GET /api/stats/refused-deliveries?source=hub&since=${at}`,
    { deliveries: [refused] },
    { call: `refusedDeliveries {"source":"hub","since":"${at}","limit":50}` },
  ],
  ["GET /api/agents/dev/why-not?limit=5", emptyWhyNot],
  ["GET /api/runs/dev-bbbbbbbb", run],
  ["GET /api/runs/dev-bbbbbbbb/diff", difference, { call: "runDifference dev-bbbbbbbb null" }],
  [
    "GET /api/runs/dev-bbbbbbbb/diff?to=dev-aaaaaaaa",
    difference,
    { call: "runDifference dev-bbbbbbbb dev-aaaaaaaa" },
  ],
  ["GET /api/agents/dev/hosts", { days: 30, denied: [denied] }],
  [
    "POST /api/agents/dev/allow-host",
    { entry: "api.evil.test", written: false },
    {
      payload: { host: "api.evil.test", dryRun: true },
      call: "allowHost dev api.evil.test 443 false true",
    },
  ],
  ["GET /api/agents/dev/files", { isEditable: true }],
  [
    "POST /api/agents/dev/files",
    { ...ok, file: "agents/dev/config.toml", written: false },
    {
      payload: { file: "config.toml", text: "", hash: "h", dryRun: true },
      call: "editFile dev config.toml true",
    },
  ],
  [
    "POST /api/agents/dev/files",
    { written: true },
    { payload: { file: "SKILL.md", text: "Go.", hash: "h" }, call: "editFile dev SKILL.md false" },
  ],
  [
    "POST /api/agents/dev/allow-host",
    {},
    {
      payload: { host: "db.lan", port: 5432, private: true },
      call: "allowHost dev db.lan 5432 true false",
    },
  ],
  [
    `GET /api/spend?by=agent&agent=dev&since=${at}`,
    spending,
    { call: `spend {"by":"agent","since":"${at}","agent":"dev"}` },
  ],
  ["GET /api/spend", { rows: [], forecast: null }, { call: 'spend {"by":"day"}' }],
  [
    "POST /api/budgets/agent%3Adev/raise",
    { ...ok, scope: "agent:dev", limits: [] },
    { payload: { usd: 2.5 }, call: "raiseBudget agent:dev 2.5" },
  ],
  [`GET /api/stats/webhooks/${receiptId}`, receipt],
  [
    `POST /api/webhooks/${receiptId}/replay`,
    { receiptId, replayId: "p1", matched: [replayed(null)], reason: null },
    { call: `replay ${receiptId} null` },
  ],
  [
    `POST /api/webhooks/${receiptId}/replay?agent=dev`,
    { receiptId },
    { call: `replay ${receiptId} dev` },
  ],
  [
    "POST /api/triggers/t1/replay",
    { receiptId: null, matched: [{ replayOf: "t1" }] },
    { call: "replayTrigger t1" },
  ],
  ["GET /api/alerts", { targets, open, next: null }, { call: 'alerts {"limit":50}' }],
  [
    `GET /api/alerts?state=dead&target=ops&before=${deadId}&limit=7`,
    { targets },
    { call: `alerts {"state":"dead","target":"ops","before":"${deadId}","limit":7}` },
  ],
  [`POST /api/alerts/${deadId}/retry`, { ...ok, id: deadId }, { status: 202 }],
  ["POST /api/alerts/retry", { ...ok, retried: 1 }, { status: 202, call: "retryDeadAlerts" }],
  [
    "POST /api/alerts/ack",
    ok,
    {
      payload: { agent: "dev", by: "anna", until: "2026-11-23T00:00:00Z" },
      call: 'acknowledgeAlerts {"by":"anna","agent":"dev","until":"2026-11-23T00:00:00Z"}',
    },
  ],
  [
    "POST /api/alerts/ack",
    ok,
    {
      payload: { agent: "dev", topic: "runs", undo: true },
      call: 'acknowledgeAlerts {"by":"the API","agent":"dev","topic":"runs","undo":true}',
    },
  ],
  ["POST /api/alerts/targets/ops/test", { accepted: true, error: null }],
];

type Malformed = [request: string, payload?: object];
const malformed: Malformed[] = [
  ...["page=0", "limit=201", "limit=x", "deadLetter=yes", "kind=other", "since=now"].map(
    (query): Malformed => [`GET /api/stats/triggers?${query}`],
  ),
  ["GET /api/stats/triggers?page=1&page=2"],
  ["GET /api/stats/refused-deliveries?limit=0"],
  ...["?by=hour", "?since=yesterday", "?by=day&by=model"].map((query): Malformed => [
    `GET /api/spend${query}`,
  ]),
  ...["", "?q=a&limit=101", "?q=a&since=yesterday", "?q=a&kind=usage"].map((query): Malformed => [
    `GET /api/search${query}`,
  ]),
  ...["?state=lost", "?limit=0", "?limit=201", "?limit=many"].map((query): Malformed => [
    `GET /api/alerts${query}`,
  ]),
  ...[{}, { usd: 0 }, { usd: -1 }, { usd: "5" }, { usd: 1e9 }, { usd: 1, agent: "dev" }].map(
    (body): Malformed => ["POST /api/budgets/project/raise", body],
  ),
  ...[{}, { host: "a.test", port: 0 }, { host: "a.test", prot: 1 }, { host: "" }].map(
    (body): Malformed => ["POST /api/agents/dev/allow-host", body],
  ),
  [`POST /api/webhooks/${receiptId}/replay?agent=dev&agent=dev`],
  [`POST /api/webhooks/${receiptId}/replay`, { agent: "dev" }],
  [`POST /api/alerts/${deadId}/retry`, { all: true }],
  ["POST /api/alerts/retry", { target: "ops" }],
  ...[
    {},
    { agent: "dev", topic: "digest" },
    { agent: "dev", until: "4h" },
    { agent: "dev", undo: false },
  ].map((body): Malformed => ["POST /api/alerts/ack", body]),
  ["POST /api/alerts/targets/ops/test", { to: "me" }],
];

test.each(answers)(
  "the operator API: %s answers %j",
  async (request, answer, { payload, status = 200, call } = {}) => {
    const { ask, calls } = await setUp();
    const response = await ask(request, payload && { payload });
    expect([response.statusCode, response.json()]).toMatchObject([status, answer]);
    if (call !== undefined) expect(calls).toEqual([call]);
  },
);

test.each([
  ["GET /api/stats/triggers/b/calls", "unknown_trigger"],
  ["GET /api/agents/nope/why-not?limit=5", "unknown_agent"],
  ["GET /api/agents/ops/hosts", "unknown_agent"],
  ["GET /api/runs/dev-cccccccc", "unknown_instance"],
  ["GET /api/runs/dev-cccccccc/diff", "unknown_instance"],
  ["GET /api/runs/dev", "unknown_instance"],
  ["GET /api/runs/dev-bbbbbbbb/diff?to=..", "unknown_instance"],
  ["GET /api/runs/..%2f..%2fdev-bbbbbbbb", "unknown_instance"],
  ["GET /api/stats/webhooks/0193a1b2-0000-7000-8000-00000000dead", "unknown_receipt"],
  ["GET /api/stats/webhooks/..%2f..%2fetc", "unknown_receipt"],
  ["POST /api/webhooks/%00/replay", "unknown_receipt"],
  [`POST /api/webhooks/${receiptId}/replay?agent=nobody`, "unknown_agent"],
  [`POST /api/webhooks/${receiptId}/replay?agent=..%2fx`, "unknown_agent"],
  [`POST /api/webhooks/${receiptId}/replay?agent=`, "unknown_agent"],
  [`POST /api/alerts/${aDelivery(1).id}/retry`, "unknown_delivery"],
  ["POST /api/alerts/targets/..%2fops/test", "unknown_target"],
])("the operator API: %s is a 404 %s", async (request, error) => {
  const response = await (await setUp()).ask(request);
  expect([response.statusCode, response.json()]).toMatchObject([404, { error }]);
});

test.each(malformed)("the operator API: %s of %j is malformed", async (request, payload) => {
  const { ask, calls } = await setUp();
  const response = await ask(request, payload && { payload });
  expect([response.statusCode, response.json()]).toMatchObject([400, { error: "malformed" }]);
  expect(calls).toEqual([]);
});

test("a page of alerts leads to the next", async () => {
  const { ask } = await setUp();
  const page = async (query: string) =>
    (await ask(`GET /api/alerts?limit=2${query}`)).json<{
      next: string | null;
      deliveries: { id: string }[];
    }>();
  const first = await page("");
  const second = await page(`&before=${first.next ?? ""}`);
  const ids = [...first.deliveries, ...second.deliveries].map(({ id }) => id);
  expect([ids, second.next]).toEqual([deliveries().map(({ id }) => id), null]);
});

test("a search is forwarded with its order and limit; a rejection has its reason", async () => {
  const asked: unknown[] = [];
  const answer = { runs: [], next: "2026-03-10.7", indexedUntil: null, indexing: null };
  const find = (query: unknown) => {
    asked.push(query);
    if (asked.length === 1) return Promise.resolve(answer);
    return Promise.reject(new UserError("bad_search", "the search has no word"));
  };
  const { get } = await openApp({ search: { find } });
  expect((await get("/api/search?q=%22a+b%22+c*&kind=error&agent=dev")).json()).toEqual(answer);
  const expected = { q: '"a b" c*', kind: "error", agent: "dev", order: "newest", limit: 20 };
  expect(asked).toEqual([expected]);
  const refused = await get("/api/search?q=-");
  expect(refused.json()).toMatchObject({ status: 400, detail: "the search has no word" });
});

describe("bodies", () => {
  test("a missing body is accepted, even with a content type", async () => {
    const { post } = await openApp();
    const json = { "content-type": "application/json" };
    expect((await post("/control/trigger/dev", { headers: json })).statusCode).toBe(202);
  });

  test.each([
    ["{", "application/json", 400, "malformed"],
    ['{"prompt":5}', "application/json", 400, "malformed"],
    ["[]", "application/json", 400, "malformed"],
    ['{"__proto__":{"prompt":"x"}}', "application/json", 400, "malformed"],
    ["hurry", "text/plain", 415, "unsupported_media_type"],
    ["prompt=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type"],
    [JSON.stringify("x".repeat(1024 * 1024)), "application/json", 413, "too_large"],
  ])("the body %.30s as %s is rejected with %i", async (payload, type, status, error) => {
    const { post, calls } = await openApp();
    const headers = { "content-type": type };
    const response = await post("/control/trigger/dev", { payload, headers });
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect([response.statusCode, response.json()]).toMatchObject([status, { error, status }]);
    expect(calls).toEqual([]);
  });

  test.each([
    ["trigger/dev", { promt: "hurry" }, 'unknown key "promt"; did you mean "prompt"?'],
    ["trigger/dev", { prompt: "x", when: 1 }, 'unknown key "when"; known here: prompt'],
    ["stop", { nwo: true }, 'unknown key "nwo"; did you mean "now"?'],
    ["agents/dev/kill", { instance: "x" }, 'unknown key "instance"; this body has no keys'],
    ["trigger/dev", { a: 0, b: 1, c: 2, d: 3, e: 4 }, "and 2 more"],
  ])("POST /control/%s of %j is a 400 that names the key", async (path, payload, detail) => {
    const { post, calls } = await openApp();
    const response = await post(`/control/${path}`, { payload });
    expect(response.json<{ detail: string }>().detail).toContain(detail);
    expect([response.statusCode, calls]).toEqual([400, []]);
  });
});

test.each([
  ["dev", { file: "../../config.toml", text: "", hash: "h" }, 400],
  ["dev", { file: "Dockerfile", text: "", hash: "h" }, 400],
  ["dev", { file: "config.toml", text: "" }, 400],
  ["dev", { file: "config.toml", text: "x".repeat(1024 * 1024), hash: "h" }, 413],
  ["..%2f..%2fops", { file: "config.toml", text: "", hash: "h" }, 404],
  [".", { file: "config.toml", text: "", hash: "h" }, 404],
])("an edit of %s with %.40j is a %i, and reaches no file", async (agent, payload, status) => {
  const { post, calls } = await openApp();
  const response = await post(`/api/agents/${agent}/files`, { payload });
  expect([response.statusCode, calls]).toEqual([status, []]);
});

test("an edit needs the key, or a session on a page of the gateway's own", async () => {
  const { app, calls } = await openApp();
  const cookie = await logIn(app);
  const edit = (headers: Record<string, string>) =>
    app.inject({
      method: "POST",
      url: "/api/agents/dev/files",
      payload: { file: "config.toml", text: "", hash: "h" },
      headers: { host: "localhost:8080", ...headers },
    });
  expect((await edit({})).statusCode).toBe(401);
  expect((await edit({ cookie })).statusCode).toBe(403);
  expect((await edit({ cookie, origin: "https://evil.example" })).statusCode).toBe(403);
  expect(calls).toEqual([]);
  expect((await edit({ cookie, origin: "http://localhost:8080" })).statusCode).toBe(200);
});

test.each([
  ["disabled", 409],
  ["draining", 503],
] as const)("an operation rejected as %s is a %i with its reason", async (code, status) => {
  const { post, operations } = await openApp();
  operations.refusal = new UserError(code, "because");
  const response = await post("/control/trigger/dev");
  expect([response.statusCode, response.json()]).toMatchObject([
    status,
    { error: code, detail: "because" },
  ]);
  expect(response.headers["retry-after"]).toBe(status === 503 ? "5" : undefined);
});

test("a stop is accepted first and done afterwards", async () => {
  const { post, calls } = await openApp();
  const accepted = await post("/control/stop");
  expect([accepted.statusCode, accepted.json()]).toMatchObject([202, ok]);
  await expect.poll(() => calls).toEqual(["stop"]);
  expect((await post("/control/stop", { payload: { now: true } })).statusCode).toBe(202);
  await expect.poll(() => calls).toEqual(["stop", "stop now"]);
});

test("the address of an agent's latest run redirects to it, or to the agent without one", async () => {
  const { get, operations } = await openApp();
  const leads = async () => (await get("/dashboard/agents/dev/runs/latest")).headers.location;
  expect(await leads()).toBe("/dashboard/agents/dev");
  const minute = (n: number): string => new Date(n * 60_000).toISOString();
  operations.entries.push(
    historyEntry({ id: "a", instanceId: "dev-aaaaaaaa", at: minute(1) }),
    historyEntry({ id: "b", instanceId: "dev-bbbbbbbb", at: minute(2) }),
    historyEntry({ id: "c", instanceId: null, at: minute(3), outcome: "skipped" }),
  );
  expect(await leads()).toBe("/dashboard/agents/dev/runs/dev-bbbbbbbb");
});

test("the scheduler is alive while it answers, and ready only while it accepts work", async () => {
  const { app, operations } = await openApp();
  const health = await app.inject({ url: "/health" });
  expect(health.json()).toEqual({ status: "ok", uptimeSeconds: 0 });
  expect((await app.inject({ url: "/health/ready" })).statusCode).toBe(200);
  for (const phase of ["starting", "draining"] as const) {
    operations.phaseNow = phase;
    const ready = await app.inject({ url: "/health/ready" });
    expect(ready.json()).toMatchObject({ status: 503, error: phase });
    expect((await app.inject({ url: "/health" })).statusCode).toBe(200);
  }
  operations.phaseNow = "running";
  operations.storeProblemNow = "database or disk is full";
  const full = await app.inject({ url: "/health/ready" });
  expect(full.json()).toMatchObject({ status: 503, error: "store_unavailable" });
  expect(full.body).toContain("disk is full");
});

test("the API's description needs access with the dashboard, and a known name without it", async () => {
  const { app, get } = await openApp();
  const cookie = await logIn(app);
  expect((await app.inject({ url: "/openapi.json" })).statusCode).toBe(401);
  expect((await app.inject({ url: "/openapi.json", headers: { cookie } })).statusCode).toBe(200);
  expect((await get("/openapi.json")).statusCode).toBe(200);
  const open = (await openApp({ dashboard: false })).app;
  expect((await open.inject({ url: "/openapi.json" })).statusCode).toBe(200);
  const foreign = { url: "/openapi.json", headers: { host: "evil.example" } };
  expect((await open.inject(foreign)).statusCode).toBe(403);
});
