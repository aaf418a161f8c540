import { Problem } from "../../../../src/foundation/errors.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { openApp } from "../start-gateway.ts";

test.each([
  ["disabled", 409, undefined],
  ["draining", 503, "5"],
] as const)("an operation rejected as %s is a %i with its reason", async (code, status, retry) => {
  const { post, operations } = await openApp();
  operations.refusal = new Problem(code, "because");
  const response = await post("/control/trigger/dev");
  const problem = { error: code, detail: "because" };
  expect([response.statusCode, response.json()]).toMatchObject([status, problem]);
  expect(response.headers["retry-after"]).toBe(retry);
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

test("/health responds 200 in each phase, /health/ready only while work is accepted", async () => {
  const { app, operations } = await openApp();
  const health = await app.inject({ url: "/health" });
  expect(health.json()).toEqual({ status: "ok", uptimeSeconds: expect.any(Number) as number });
  expect((await app.inject({ url: "/health/ready" })).statusCode).toBe(200);
  for (const phase of ["starting", "draining"] as const) {
    operations.phaseNow = phase;
    const ready = await app.inject({ url: "/health/ready" });
    expect(ready.json()).toMatchObject({ status: 503, error: phase });
    expect((await app.inject({ url: "/health" })).statusCode).toBe(200);
  }
  operations.phaseNow = "running";
  operations.storeProblemNow = "database or disk is full";
  const full = (await app.inject({ url: "/health/ready" })).json<object>();
  const detail = expect.stringContaining("disk is full") as string;
  expect(full).toMatchObject({ status: 503, error: "store_unavailable", detail });
});

test("without the dashboard, the API's description is open to known host names", async () => {
  const { app } = await openApp({ dashboard: false });
  const statusFor = async (host: string) =>
    (await app.inject({ url: "/openapi.json", headers: { host } })).statusCode;
  expect([await statusFor("localhost"), await statusFor("evil.example")]).toEqual([200, 403]);
});

describe("a body of the operator API", () => {
  test("may be missing, even with a content type", async () => {
    const { post } = await openApp();
    const json = { "content-type": "application/json" };
    expect((await post("/control/trigger/dev", { headers: json })).statusCode).toBe(202);
  });

  test.each([
    ["{", "application/json", 400, "malformed"],
    ['{"prompt":5}', "application/json", 400, "malformed"],
    ["[]", "application/json", 400, "malformed"],
    ['{"__proto__":{"prompt":"x"}}', "application/json", 400, "malformed"],
    ["prompt=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type"],
    ["one of 1 MB", "application/json", 413, "too_large"],
  ])("such as %s as %s is rejected with %i", async (text, type, status, error) => {
    const payload = status === 413 ? JSON.stringify("x".repeat(1024 * 1024)) : text;
    const { post, calls } = await openApp();
    const headers = { "content-type": type };
    const response = await post("/control/trigger/dev", { payload, headers });
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect([response.statusCode, response.json()]).toMatchObject([status, { error, status }]);
    expect(calls).toEqual([]);
  });
});

test.each([
  ["trigger/dev", 400],
  ["pause", 200],
])(
  "an overlong Idempotency-Key counts only where work starts: POST /control/%s",
  async (path, status) => {
    const headers = { "idempotency-key": "k".repeat(201) };
    expect((await (await openApp()).post(`/control/${path}`, { headers })).statusCode).toBe(status);
  },
);
