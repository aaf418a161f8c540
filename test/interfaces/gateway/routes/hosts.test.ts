import { expect, onTestFinished, test } from "vitest";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { OperationError } from "../../../../src/foundation/contracts/operations.ts";
import type { AgentHosts } from "../../../../src/foundation/contracts/run-hosts.ts";
import { bearer, testDeps } from "../start-gateway.ts";

const denied: AgentHosts["denied"][number] = {
  ...{ host: "api.evil.test", port: 443, attempts: 3, entry: "api.evil.test" },
  denied: "not_allowed",
  lastAt: "2026-11-22T12:00:00.000Z",
};

async function setUp() {
  const deps = testDeps();
  deps.operations.deniedHosts = [denied];
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const allow = (payload: object, headers: Record<string, string> = bearer) =>
    app.inject({ method: "POST", url: "/api/agents/dev/allow-host", headers, payload });
  return { app, allow, operations: deps.operations };
}

test("an agent's denied hosts are listed", async () => {
  const { app } = await setUp();
  const answer = await app.inject({ url: "/api/agents/dev/hosts", headers: bearer });
  expect(answer.json()).toEqual({ days: 30, denied: [denied] });
  const other = await app.inject({ url: "/api/agents/ops/hosts", headers: bearer });
  expect([other.statusCode, other.json()]).toMatchObject([404, { error: "unknown_agent" }]);
});

test("a host is allowed on port 443 where no other is asked for", async () => {
  const { allow, operations } = await setUp();
  const answer = await allow({ host: "api.evil.test", dryRun: true });
  expect(answer.json()).toMatchObject({ entry: "api.evil.test", written: false });
  await allow({ host: "db.lan", port: 5432, private: true });
  expect(operations.calls).toEqual([
    "allowHost dev api.evil.test 443 false true",
    "allowHost dev db.lan 5432 true false",
  ]);
});

test.each([{}, { host: "a.test", port: 0 }, { host: "a.test", prot: 1 }, { host: "" }])(
  "%j is malformed",
  async (body) => {
    const { allow, operations } = await setUp();
    expect((await allow(body)).statusCode).toBe(400);
    expect(operations.calls).toEqual([]);
  },
);

test("a refusal is shown, and without the key there is nothing", async () => {
  const { allow, operations } = await setUp();
  operations.refusal = new OperationError("invalid_host", '"x y" is not a host');
  const refused = await allow({ host: "x y" });
  expect([refused.statusCode, refused.json()]).toMatchObject([400, { error: "invalid_host" }]);
  expect((await allow({ host: "a.test" }, {})).statusCode).toBe(401);
});
