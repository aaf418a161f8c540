import type { InjectOptions } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { OperationError } from "../../../../src/foundation/contracts/operations.ts";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { bearer, testDeps } from "../start-gateway.ts";

async function setUp() {
  const deps = testDeps();
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const post = async (url: string, options: InjectOptions = {}) => {
    const headers = { ...bearer, ...options.headers };
    return await app.inject({ method: "POST", url, ...options, headers });
  };
  return { post, operations: deps.operations };
}

test.each([
  ["/control/pause", { success: true, paused: true }, "setPaused true"],
  ["/control/resume", { success: true, paused: false }, "setPaused false"],
  [
    "/control/agents/dev/enable",
    { success: true, agent: "dev", enabled: true },
    "setEnabled dev true",
  ],
  [
    "/control/agents/dev/resume",
    { success: true, agent: "dev", enabled: true },
    "setEnabled dev true",
  ],
  [
    "/control/agents/dev/disable",
    { success: true, agent: "dev", enabled: false },
    "setEnabled dev false",
  ],
  [
    "/control/agents/dev/pause",
    { success: true, agent: "dev", enabled: false },
    "setEnabled dev false",
  ],
  ["/control/agents/dev/kill", { success: true, agent: "dev", killed: 0 }, "killAgent dev"],
  [
    "/control/kill/dev-abcdefgh",
    { success: true, instanceId: "dev-abcdefgh" },
    "killInstance dev-abcdefgh",
  ],
])("POST %s does it, twice as well as once", async (url, answer, call) => {
  const { post, operations } = await setUp();
  for (const attempt of [1, 2]) {
    const response = await post(url);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual(answer);
    expect(operations.calls).toHaveLength(attempt);
  }
  expect(operations.calls[0]).toBe(call);
});

test("a trigger is accepted with 202 and says what became of it", async () => {
  const { post, operations } = await setUp();
  const response = await post("/control/trigger/dev", { payload: { prompt: "hurry" } });
  expect(response.statusCode).toBe(202);
  expect(response.json()).toEqual({
    success: true,
    agent: "dev",
    triggerId: "t1",
    instanceId: "dev-abcdefgh",
    queued: false,
  });
  expect(operations.calls).toEqual(["trigger dev hurry"]);
});

test("a trigger needs no body, even when one is announced", async () => {
  const { post, operations } = await setUp();
  expect((await post("/control/trigger/dev")).statusCode).toBe(202);
  const json = { "content-type": "application/json" };
  expect((await post("/control/trigger/dev", { headers: json })).statusCode).toBe(202);
  expect((await post("/control/trigger/dev", { payload: {} })).statusCode).toBe(202);
  expect(operations.calls).toEqual(Array(3).fill("trigger dev null"));
});

test.each([
  ["{", "application/json", 400, "malformed"],
  ['{"prompt":5}', "application/json", 400, "malformed"],
  ["[]", "application/json", 400, "malformed"],
  ['{"__proto__":{"prompt":"x"}}', "application/json", 400, "malformed"],
  ["hurry", "text/plain", 415, "unsupported_media_type"],
  ["prompt=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type"],
])("the body %s as %s is refused with %i", async (payload, type, status, error) => {
  const { post, operations } = await setUp();
  const response = await post("/control/trigger/dev", {
    payload,
    headers: { "content-type": type },
  });
  expect(response.statusCode).toBe(status);
  expect(response.json()).toMatchObject({ error, status });
  expect(operations.calls).toEqual([]);
});

test.each([
  ["trigger/dev", '{"promt":"hurry"}', 'unknown key "promt"; did you mean "prompt"?'],
  ["trigger/dev", '{"prompt":"x","when":1}', 'unknown key "when"; known here: prompt'],
  ["stop", '{"nwo":true}', 'unknown key "nwo"; did you mean "now"?'],
  ["pause", '{"agent":"dev"}', 'unknown key "agent"; this body has no keys'],
  ["agents/dev/disable", '{"now":true}', 'unknown key "now"; this body has no keys'],
  ["agents/dev/kill", '{"instance":"x"}', 'unknown key "instance"; this body has no keys'],
  ["kill/dev-abcdefgh", '{"now":true}', 'unknown key "now"; this body has no keys'],
  ["trigger/dev", JSON.stringify(Object.fromEntries("abcde".split("").entries())), "and 2 more"],
])("POST /control/%s of %s is a 400 that names the key", async (path, payload, detail) => {
  const { post, operations } = await setUp();
  const headers = { "content-type": "application/json" };
  const response = await post(`/control/${path}`, { payload, headers });
  expect(response.statusCode).toBe(400);
  expect(response.headers["content-type"]).toContain("application/problem+json");
  expect(response.json()).toMatchObject({ error: "malformed", status: 400 });
  expect(response.json<{ detail: string }>().detail).toContain(detail);
  expect(operations.calls).toEqual([]);
});

test("a body that is too large is a 413", async () => {
  const { post } = await setUp();
  const payload = { prompt: "x".repeat(1024 * 1024) };
  const response = await post("/control/trigger/dev", { payload });
  expect(response.statusCode).toBe(413);
  expect(response.json()).toMatchObject({ error: "too_large" });
});

test.each([
  ["unknown_agent", 404],
  ["disabled", 409],
  ["invalid_config", 409],
  ["draining", 503],
  ["store_unavailable", 503],
] as const)("a refusal because of %s is a %i", async (code, status) => {
  const { post, operations } = await setUp();
  operations.refusal = new OperationError(code, "because");
  const response = await post("/control/trigger/dev");
  expect(response.statusCode).toBe(status);
  expect(response.json()).toMatchObject({ error: code, detail: "because" });
  expect(response.headers["retry-after"]).toBe(status === 503 ? "5" : undefined);
});

test("a stop is accepted first and done afterwards", async () => {
  const { post, operations } = await setUp();
  const accepted = await post("/control/stop");
  expect(accepted.statusCode).toBe(202);
  expect(accepted.json()).toEqual({ success: true, running: expect.any(Number) as number });
  await expect.poll(() => operations.calls).toEqual(["stop"]);
  expect((await post("/control/stop", { payload: { now: true } })).statusCode).toBe(202);
  await expect.poll(() => operations.calls).toEqual(["stop", "stop now"]);
});
