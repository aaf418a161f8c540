import { expect, onTestFinished, test } from "vitest";
import { operatorApp, tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { aDelivery, aTarget } from "../../../helpers/fake-alerts.ts";
import { bearer, testDeps } from "../start-gateway.ts";

async function serve(makeApp = tcpApp) {
  const deps = testDeps();
  const { alerting } = deps.operations;
  alerting.targets = [
    aTarget("ops", { state: "failing", waiting: 1, lastError: "HTTP 503" }),
    aTarget("old", { state: "off", lastError: "HTTP 410", offSince: "2026-11-22T08:00:00.000Z" }),
  ];
  const since = "2026-11-22T08:00:00.000Z";
  const runs = { agent: "dev", topic: "runs", count: 3, reason: "exited with code 1" } as const;
  const down = { agent: null, topic: "config", count: 1, reason: null } as const;
  alerting.open = [
    { ...runs, since },
    { ...down, since },
  ];
  const dead = { state: "dead", attempts: 8, lastError: "HTTP 503" } as const;
  alerting.deliveries = [aDelivery(1, { agent: null }), aDelivery(2, dead), aDelivery(3)];
  const app = await makeApp(deps);
  onTestFinished(() => app.close());
  const get = (query: string) => app.inject({ url: `/api/alerts${query}`, headers: bearer });
  const post = (path: string, payload: object = {}) =>
    app.inject({ method: "POST", url: `/api/alerts${path}`, headers: bearer, payload });
  return { app, get, post, alerting, calls: deps.operations.calls };
}

test.each([tcpApp, operatorApp])(
  "%o answers with targets, what is open, and the deliveries",
  async (makeApp) => {
    const { get, alerting, calls } = await serve(makeApp);
    const { targets, open, deliveries } = alerting;
    expect((await get("")).json()).toEqual({ targets, open, deliveries, next: null });
    const [, dead] = deliveries;
    const page = await get(`?state=dead&target=ops&before=${dead?.id ?? ""}&limit=7`);
    expect(page.json()).toMatchObject({ targets });
    expect(calls).toEqual([
      'alerts {"limit":50}',
      `alerts {"state":"dead","target":"ops","before":"${dead?.id ?? ""}","limit":7}`,
    ]);
  },
);

test("a page leads to the next", async () => {
  const { get, alerting } = await serve();
  const ids = alerting.deliveries.map(({ id }) => id);
  const first = (await get("?limit=2")).json<{ next: string; deliveries: { id: string }[] }>();
  const second = (await get(`?limit=2&before=${first.next}`)).json<typeof first>();
  expect([...first.deliveries, ...second.deliveries].map(({ id }) => id)).toEqual(ids);
  expect(second.next).toBeNull();
});

test.each(["?state=lost", "?limit=0", "?limit=201", "?limit=many"])(
  "%s is malformed",
  async (query) => {
    const { get, calls } = await serve();
    const response = await get(query);
    expect([response.statusCode, response.json()]).toMatchObject([400, { error: "malformed" }]);
    expect(calls).toEqual([]);
  },
);

test("what was given up is retried, and what arrived is not", async () => {
  const { post, alerting } = await serve();
  const [sent, dead] = alerting.deliveries.map(({ id }) => id);
  const retried = await post(`/${dead ?? ""}/retry`);
  expect([retried.statusCode, retried.json()]).toEqual([202, { success: true, id: dead }]);
  expect(alerting.deliveries[1]?.state).toBe("waiting");
  const refused = await post(`/${sent ?? ""}/retry`);
  expect([refused.statusCode, refused.json()]).toMatchObject([404, { error: "unknown_delivery" }]);
});

test("all that was given up is retried, each once", async () => {
  const { post, alerting, calls } = await serve();
  const retried = await post("/retry");
  expect([retried.statusCode, retried.json()]).toEqual([202, { success: true, retried: 1 }]);
  expect(alerting.deliveries.map(({ state }) => state)).toEqual(["sent", "waiting", "sent"]);
  expect((await post("/retry")).json()).toEqual({ success: true, retried: 0 });
  expect(calls).toEqual(["retryDeadAlerts", "retryDeadAlerts"]);
});

test("a test is answered with what the target answered", async () => {
  const { post, alerting, calls } = await serve();
  const accepted = await post("/targets/ops/test");
  expect([accepted.statusCode, accepted.json()]).toEqual([200, { accepted: true, error: null }]);
  alerting.answer = { accepted: false, error: "HTTP 404: no_service" };
  expect((await post("/targets/ops/test")).json()).toEqual(alerting.answer);
  const unknown = await post("/targets/..%2fops/test");
  expect([unknown.statusCode, unknown.json()]).toMatchObject([404, { error: "unknown_target" }]);
  expect(calls.at(-1)).toBe("testAlertTarget ../ops");
});

test("nothing is shown or sent without the key, nor with a body that means something else", async () => {
  const { app, post, alerting, calls } = await serve();
  const id = alerting.deliveries[1]?.id ?? "";
  for (const [method, url] of [
    ["GET", "/api/alerts"],
    ["POST", `/api/alerts/${id}/retry`],
    ["POST", "/api/alerts/retry"],
    ["POST", "/api/alerts/targets/ops/test"],
  ] as const)
    expect((await app.inject({ method, url })).statusCode, url).toBe(401);
  expect((await post(`/${id}/retry`, { all: true })).statusCode).toBe(400);
  expect((await post("/retry", { target: "ops" })).statusCode).toBe(400);
  expect((await post("/targets/ops/test", { to: "me" })).statusCode).toBe(400);
  expect(calls).toEqual([]);
});
