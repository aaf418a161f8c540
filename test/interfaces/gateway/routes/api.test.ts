import { operatorApp } from "../../../../src/interfaces/gateway/app.ts";
import { Problem } from "../../../../src/foundation/errors.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { openApp } from "../start-gateway.ts";
import { rows } from "./api-rows.ts";
import { fill } from "./api-samples.ts";

async function setUp() {
  const opened = await openApp({}, operatorApp);
  await fill(opened);
  return opened;
}

const named = rows.map(([request, expected]) => {
  const body = expected.payload === undefined ? "" : JSON.stringify(expected.payload);
  return { name: `${request} ${body}`, request, expected };
});

test.each(named)("the operator API accepts $name", async ({ request, expected }) => {
  const { payload, status = 200, answer = {}, call, act } = expected;
  const { get, calls, operations } = await setUp();
  const [method, url = ""] = request.split(" ");
  const response = await get(url, { method: method as "GET", ...(payload && { payload }) });
  expect([response.statusCode, response.json()]).toMatchObject([status, answer]);
  if (call !== undefined) expect(calls).toEqual([call]);
  expect(operations.acts).toMatchObject(act === undefined ? [] : [{ ...act, by: { via: "key" } }]);
});

test("every POST route of the operator API has a test", async () => {
  const { get } = await setUp();
  const { paths } = (await get("/openapi.json")).json<{ paths: Record<string, object> }>();
  const posts = Object.keys(paths).filter((path) => "post" in (paths[path] ?? {}));
  const isTested = (path: string): boolean => {
    const pattern = new RegExp(`^POST ${path.replace(/\{\w+\}/g, "[^/?]+")}(\\?|$)`);
    return rows.some(([request]) => pattern.test(request));
  };
  expect(posts.length).toBeGreaterThan(15);
  expect(posts.filter((path) => !isTested(path))).toEqual([]);
});

test("the operator API forwards a search with its order and limit", async () => {
  const answer = { runs: [], next: "2026-03-10.7", indexedUntil: null, indexing: null };
  const find = vi.fn(() => Promise.resolve(answer));
  const { get } = await openApp({ search: { find } });
  expect((await get("/api/search?q=%22a+b%22+c*&kind=error&agent=dev")).json()).toEqual(answer);
  const asked = { q: '"a b" c*', kind: "error", agent: "dev", order: "newest", limit: 20 };
  expect(find.mock.calls).toEqual([[asked]]);
});

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

test("a stop responds 202 first and stops afterwards", async () => {
  const { post, calls } = await openApp();
  expect((await post("/control/stop")).statusCode).toBe(202);
  await expect.poll(() => calls).toEqual(["stop"]);
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
