import { expect, onTestFinished, test } from "vitest";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { emptyWhyNot } from "../../../helpers/empty-why-not.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { bearer, testDeps } from "../start-gateway.ts";

async function ask(query: string) {
  const deps = testDeps();
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const response = await app.inject({ url: `/api/stats/triggers?${query}`, headers: bearer });
  return { response, calls: deps.operations.calls };
}

test("without a query it is the first page of 50", async () => {
  const { response, calls } = await ask("");
  expect(response.json()).toEqual({ triggers: [], page: 1, limit: 50, total: 0, nextBefore: null });
  expect(calls).toEqual(['history {"page":1,"limit":50}']);
});

test("numbers, booleans and names arrive as what they are", async () => {
  const { calls } = await ask("page=2&limit=10&deadLetter=true&agent=dev&kind=cron&outcome=failed");
  expect(calls).toEqual([
    'history {"page":2,"limit":10,"deadLetter":true,"agent":"dev","kind":"cron","outcome":"failed"}',
  ]);
});

test.each([
  "page=0",
  "limit=201",
  "limit=x",
  "deadLetter=yes",
  "kind=other",
  "since=now",
  "page=1&page=2",
])("%s is malformed", async (query) => {
  const { response, calls } = await ask(query);
  expect(response.statusCode).toBe(400);
  expect(response.json()).toMatchObject({ error: "malformed" });
  expect(calls).toEqual([]);
});

test("the calls around an entry are told; those of an unknown one are not found", async () => {
  const deps = testDeps();
  const tree = { context: "review it", value: { ok: true }, entries: [historyEntry({ id: "a" })] };
  deps.operations.trees.set("a", tree);
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const get = (id: string) =>
    app.inject({ url: `/api/stats/triggers/${id}/calls`, headers: bearer });
  expect((await get("a")).json()).toEqual(tree);
  const unknown = await get("b");
  expect([unknown.statusCode, unknown.json()]).toMatchObject([404, { error: "unknown_trigger" }]);
});

test("refused deliveries are listed, by source and since a time", async () => {
  const deps = testDeps();
  const at = "2026-01-05T12:00:00.000Z";
  const row = { type: "github", source: null, result: "unverified", count: 2 } as const;
  deps.operations.refusedNow.push({ ...row, firstAt: at, lastAt: at, reason: "wrong" });
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const get = (query: string) =>
    app.inject({ url: `/api/stats/refused-deliveries?${query}`, headers: bearer });
  expect((await get(`source=hub&since=${at}`)).json()).toEqual({
    deliveries: [{ ...row, firstAt: at, lastAt: at, reason: "wrong" }],
  });
  const asked = JSON.stringify({ source: "hub", since: at, limit: 50 });
  expect(deps.operations.calls).toEqual([`refusedDeliveries ${asked}`]);
  expect((await get("limit=0")).statusCode).toBe(400);
});

test("why an agent did not run is answered for one that there is", async () => {
  const deps = testDeps();
  deps.operations.setAgent({ name: "dev" });
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const get = (name: string) =>
    app.inject({ url: `/api/agents/${name}/why-not?limit=5`, headers: bearer });
  expect((await get("dev")).json()).toEqual(emptyWhyNot);
  expect((await get("nope")).statusCode).toBe(404);
});
