import type { InjectOptions } from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { OperationError } from "../../../../src/foundation/contracts/operations.ts";
import type { ReceiptView } from "../../../../src/foundation/contracts/operator-api.ts";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { bearer, testDeps } from "../start-gateway.ts";

const receiptId = "0193a1b2-0000-7000-8000-000000000001";
const receipt: ReceiptView = {
  receiptId,
  at: "2026-11-21T00:00:00.000Z",
  source: "gh",
  type: "github",
  deliveryId: "d1",
  headers: { "x-github-event": "issues" },
  matched: ["dev"],
  reason: null,
  bytes: 12,
  payload: { action: "opened" },
  text: null,
};

async function setUp() {
  const deps = testDeps();
  deps.operations.receipts.set(receiptId, receipt);
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const ask = (url: string, options: InjectOptions = {}) =>
    app.inject({ url, headers: bearer, ...options });
  return { ask, operations: deps.operations };
}

test("a stored delivery is shown as it is kept", async () => {
  const { ask } = await setUp();
  const response = await ask(`/api/stats/webhooks/${receiptId}`);
  expect(response.statusCode).toBe(200);
  expect(response.json()).toEqual(receipt);
});

test("a replay whose agent is in the body, where it would be overlooked, is a 400", async () => {
  const { ask, operations } = await setUp();
  const payload = { agent: "dev" };
  const response = await ask(`/api/webhooks/${receiptId}/replay`, { method: "POST", payload });
  expect(response.statusCode).toBe(400);
  expect(response.json()).toMatchObject({ error: "malformed" });
  expect(operations.calls).toEqual([]);
});

test("a replay says what became of it, for all that match or for one agent", async () => {
  const { ask, operations } = await setUp();
  const matched = [
    {
      ...{ agent: "dev", outcome: "started", instanceId: "dev-abcdefgh" },
      ...{ triggerId: "t-dev", replayOf: null },
    },
  ];
  for (const query of ["", "?agent=dev"]) {
    const url = `/api/webhooks/${receiptId}/replay${query}`;
    const response = await ask(url, { method: "POST" });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ receiptId, replayId: "p1", matched, reason: null });
  }
  expect(operations.calls).toEqual([`replay ${receiptId} null`, `replay ${receiptId} dev`]);
});

test("a replay of a history entry names that entry", async () => {
  const { ask, operations } = await setUp();
  const response = await ask("/api/triggers/t1/replay", { method: "POST" });
  expect(response.statusCode).toBe(200);
  expect(response.json()).toMatchObject({ receiptId: null, matched: [{ replayOf: "t1" }] });
  expect(operations.calls).toEqual(["replayTrigger t1"]);
});

test.each([
  ["GET", "/api/stats/webhooks/0193a1b2-0000-7000-8000-00000000dead"],
  ["GET", "/api/stats/webhooks/..%2f..%2fetc"],
  ["POST", "/api/webhooks/0193a1b2-0000-7000-8000-00000000dead/replay"],
  ["POST", "/api/webhooks/%00/replay"],
] as const)("%s %s is no receipt", async (method, url) => {
  const { ask } = await setUp();
  const response = await ask(url, { method });
  expect(response.statusCode).toBe(404);
  expect(response.json()).toMatchObject({ error: "unknown_receipt" });
});

test.each([
  ["?agent=nobody", 404, "unknown_agent"],
  ["?agent=..%2fx", 404, "unknown_agent"],
  ["?agent=", 404, "unknown_agent"],
  ["?agent=dev&agent=dev", 400, "malformed"],
])("a replay with %s is a %i %s", async (query, status, error) => {
  const { ask } = await setUp();
  const response = await ask(`/api/webhooks/${receiptId}/replay${query}`, { method: "POST" });
  expect(response.statusCode).toBe(status);
  expect(response.json()).toMatchObject({ error });
});

test.each([
  ["unreadable_receipt", 409],
  ["disabled", 409],
  ["draining", 503],
] as const)("a replay that is refused because of %s is a %i", async (code, status) => {
  const { ask, operations } = await setUp();
  operations.refusal = new OperationError(code, "because");
  const response = await ask(`/api/webhooks/${receiptId}/replay`, { method: "POST" });
  expect(response.statusCode).toBe(status);
  expect(response.json()).toMatchObject({ error: code, detail: "because" });
});
