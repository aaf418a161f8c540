import { expect, onTestFinished, test } from "vitest";
import { operatorApp, tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { bearer, testDeps } from "../start-gateway.ts";

const answer = {
  rows: [
    {
      ...{ key: "dev", usd: 1.5, subscriptionUsd: 0, calls: 3, tokens: 1_000 },
      ...{ unpriced: 0, estimated: 0 },
    },
  ],
  limits: [
    {
      ...{ scope: "project", window: "2026-11", endsAt: "2026-12-01T00:00:00.000Z" },
      ...{ usd: 1.5, limit: null, reserved: 0.25 },
    },
  ],
  forecast: { monthUsd: 3.1, p90Usd: 7 },
};

async function ask(query: string, makeApp = tcpApp) {
  const deps = testDeps();
  deps.operations.spending.set("agent", answer);
  const app = await makeApp(deps);
  onTestFinished(() => app.close());
  const response = await app.inject({ url: `/api/spend${query}`, headers: bearer });
  return { response, calls: deps.operations.calls };
}

test.each([tcpApp, operatorApp])("%o answers with rows, limits and a forecast", async (makeApp) => {
  const since = "2026-11-01T00:00:00Z";
  const { response, calls } = await ask(`?by=agent&agent=dev&since=${since}`, makeApp);
  expect(response.json()).toEqual(answer);
  expect(calls).toEqual([`spend {"by":"agent","since":"${since}","agent":"dev"}`]);
});

test("without a query it is by day", async () => {
  const { response, calls } = await ask("");
  expect(response.json()).toEqual({ rows: [], limits: [], forecast: null });
  expect(calls).toEqual(['spend {"by":"day"}']);
});

test.each(["?by=hour", "?since=yesterday", "?by=day&by=model"])(
  "%s is malformed",
  async (query) => {
    const { response, calls } = await ask(query);
    expect([response.statusCode, response.json()]).toMatchObject([400, { error: "malformed" }]);
    expect(calls).toEqual([]);
  },
);

async function raise(scope: string, body: object) {
  const deps = testDeps();
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const url = `/api/budgets/${encodeURIComponent(scope)}/raise`;
  const response = await app.inject({ method: "POST", url, headers: bearer, payload: body });
  return { response, calls: deps.operations.calls };
}

test("a budget is raised", async () => {
  const { response, calls } = await raise("agent:dev", { usd: 2.5 });
  expect(response.json()).toEqual({ success: true, scope: "agent:dev", limits: [] });
  expect(calls).toEqual(["raiseBudget agent:dev 2.5"]);
});

test.each([{}, { usd: 0 }, { usd: -1 }, { usd: "5" }, { usd: 1e9 }, { usd: 1, agent: "dev" }])(
  "a budget is not raised by %j",
  async (body) => {
    const { response, calls } = await raise("project", body);
    expect([response.statusCode, response.json()]).toMatchObject([400, { error: "malformed" }]);
    expect(calls).toEqual([]);
  },
);
