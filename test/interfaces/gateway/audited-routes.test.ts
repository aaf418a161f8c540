import { operatorApp, tcpApp } from "../../../src/interfaces/gateway/app.ts";
import { personText } from "../../../src/foundation/contracts/questions.ts";
import { UserError } from "../../../src/foundation/errors.ts";
import { aDelivery, aTarget } from "../../helpers/fake-alerts.ts";
import { apiKey, bearer, logIn, openApp } from "./start-gateway.ts";

const at = "2026-11-22T08:00:00.000Z";
const receipt = "0198c0de-7a11-4000-8000-5ec0ffee0001";
const dead = aDelivery(1, { state: "dead" });
const edit = { file: "SKILL.md", text: "new", hash: "h" };

/** An example of each route, and the act that it is recorded as. */
const examples: Readonly<Record<string, readonly [body: object, act: object]>> = {
  "/control/pause": [{ work: true }, { act: "pause", detail: "all new work" }],
  "/control/kill": [{}, { act: "kill", detail: "0 runs of all agents" }],
  "/control/resume": [{}, { act: "resume" }],
  "/control/stop": [{ now: true }, { act: "stop", detail: "0 runs, now" }],
  "/control/login-link": [{}, { act: "login-link" }],
  "/control/agents/dev/enable": [{}, { act: "enable", agent: "dev" }],
  "/control/agents/dev/resume": [{}, { act: "enable", agent: "dev" }],
  "/control/agents/dev/disable": [{}, { act: "disable", agent: "dev" }],
  "/control/agents/dev/pause": [{}, { act: "disable", agent: "dev" }],
  "/control/agents/dev/kill": [{}, { act: "kill", agent: "dev", detail: "0 runs" }],
  "/control/trigger/dev": [
    { prompt: "only 42" },
    { act: "trigger", agent: "dev", instanceId: "dev-abcdefgh", detail: "only 42" },
  ],
  "/control/kill/dev-abcdefgh": [{}, { act: "kill", agent: "dev", instanceId: "dev-abcdefgh" }],
  "/api/runs/dev-abcdefgh/steer": [
    { text: "be brief" },
    { act: "steer", agent: "dev", instanceId: "dev-abcdefgh", detail: "be brief" },
  ],
  "/api/runs/dev-abcdefgh/continue": [
    { prompt: "and now" },
    {
      act: "continue",
      agent: "dev",
      instanceId: "dev-abcdefgh",
      detail: "dev-zyxwvuts: and now",
    },
  ],
  [`/api/webhooks/${receipt}/replay`]: [
    {},
    { act: "replay", agent: "dev", instanceId: "dev-abcdefgh", detail: `${receipt}: 1 agent` },
  ],
  "/api/triggers/t1/replay": [{}, { act: "replay", agent: "dev", detail: "t1: 1 agent" }],
  "/api/agents/dev/allow-host": [
    { host: "api.example.com" },
    { act: "allow-host", agent: "dev", detail: "api.example.com" },
  ],
  "/api/agents/dev/files": [edit, { act: "edit", agent: "dev" }],
  "/api/budgets/run:dev-abcdefgh/raise": [
    { usd: 5 },
    { act: "raise", agent: "dev", instanceId: "dev-abcdefgh", detail: "run:dev-abcdefgh by $5.00" },
  ],
  "/api/alerts/ack": [
    { agent: "dev", undo: true },
    { act: "ack", agent: "dev", detail: "undone" },
  ],
  [`/api/alerts/${dead.id}/retry`]: [{}, { act: "alert-retry", detail: dead.id }],
  "/api/alerts/retry": [{}, { act: "alert-retry", detail: "1 alert" }],
  "/api/alerts/targets/ops/test": [{}, { act: "alert-test", detail: "ops" }],
  "/api/tokens": [
    { name: "claude", scopes: ["read"], agents: ["dev"], days: 1 },
    { act: "token-new", detail: "claude: read of dev, for 1 day" },
  ],
  "/api/tokens/old/remove": [{}, { act: "token-remove", detail: "old" }],
};

/** Routes that record no act by themselves. */
const unaudited = [
  // The question's store records it in the transaction of the answer.
  "/api/questions/{id}/answer",
];

async function opened() {
  const started = await openApp({}, operatorApp);
  started.operations.setScheduler({ gatewayUrl: "http://localhost:1" });
  await started.deps.tokens.create({ name: "old", scopes: ["read"], days: 1 });
  started.operations.receipts.set(receipt, {
    receiptId: receipt,
    at,
    source: "gh",
    type: "github",
    deliveryId: "d1",
    bytes: 12,
    reason: null,
    headers: {},
    matched: ["dev"],
    payload: {},
    text: null,
  });
  Object.assign(started.operations.alerting, {
    targets: [aTarget("ops")],
    open: [{ agent: "dev", topic: "runs", since: at, count: 1, reason: null, ack: null }],
    deliveries: [dead],
  });
  return started;
}

test("every POST route of the operator API has an act", async () => {
  const { get } = await opened();
  const { paths } = (await get("/openapi.json")).json<{ paths: Record<string, object> }>();
  const posts = Object.keys(paths).filter((path) => "post" in (paths[path] ?? {}));
  const hasExample = (path: string): boolean => {
    const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
    return Object.keys(examples).some((url) => pattern.test(url));
  };
  expect(posts.length).toBeGreaterThan(15);
  expect(posts.filter((path) => !hasExample(path) && !unaudited.includes(path))).toEqual([]);
});

test.each(Object.entries(examples))(
  "the audit trail records POST %s",
  async (url, [payload, act]) => {
    const { post, operations } = await opened();
    expect((await post(url, { payload })).statusCode).toBeLessThan(300);
    expect(operations.acts).toMatchObject([{ ...act, by: { via: "key" } }]);
  },
);

test("the audit trail records neither a dry run nor a request that failed", async () => {
  const { post, operations } = await opened();
  await post("/api/agents/dev/files", { payload: { ...edit, dryRun: true } });
  await post("/control/kill/nothing");
  operations.refusal = new UserError("disabled", "no");
  await post("/control/trigger/dev");
  await post("/control/pause", { headers: { authorization: "Bearer wrong" } });
  expect(operations.acts).toEqual([]);
});

test("the audit trail records the login, acts and logout of a browser with its address", async () => {
  const { app, operations } = await openApp({}, tcpApp);
  const cookie = await logIn(app);
  const headers = { cookie, host: "localhost", origin: "http://localhost" };
  await app.inject({ method: "POST", url: "/control/pause", headers });
  await app.inject({ method: "POST", url: "/logout", headers });
  await app.inject({ method: "POST", url: "/logout", headers });
  await app.inject({ method: "POST", url: "/login", payload: { key: `${apiKey}?` } });
  const by = { via: "login", name: "", from: "127.0.0.1" };
  expect(operations.acts).toMatchObject([
    { act: "logout", by },
    { act: "pause", by },
    { act: "login", by },
  ]);
});

test("the audit trail records an act by an API token with its name", async () => {
  const { app, deps, operations } = await opened();
  const token = { name: "claude", scopes: ["control"], days: 1 } as const;
  const { token: secret } = await deps.tokens.create({ ...token, scopes: [...token.scopes] });
  const headers = { authorization: `Bearer ${secret}` };
  await app.inject({ method: "POST", url: "/control/pause", headers });
  await app.inject({ method: "POST", url: "/control/stop", headers });
  const by = { via: "token", name: "claude" };
  expect(operations.acts).toMatchObject([{ act: "pause", by }]);
  expect(personText({ ...by, via: "token", from: null })).toBe("claude by token");
});

test("the audit trail lists the acts by pages", async () => {
  const { get, post } = await openApp();
  for (const word of ["pause", "resume", "pause"]) await post(`/control/${word}`);
  const first = (await get("/api/audit?limit=2")).json<{ entries: object[]; next: number }>();
  expect(first.entries).toMatchObject([{ act: "pause" }, { act: "resume" }]);
  const second = (await get(`/api/audit?limit=2&before=${first.next}`)).json<object>();
  expect(second).toMatchObject({ entries: [{ act: "pause" }], next: null });
  expect((await get("/api/audit?act=dance")).statusCode).toBe(400);
  expect((await get("/api/audit", { headers: { ...bearer, authorization: "" } })).statusCode).toBe(
    401,
  );
});
