import { expect, onTestFinished, test } from "vitest";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import type { RunDifference } from "../../../../src/foundation/contracts/run-view.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { aRunView } from "../../../helpers/run-view.ts";
import { bearer, testDeps } from "../start-gateway.ts";

async function started() {
  const deps = testDeps();
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const get = (url: string) => app.inject({ url, headers: bearer });
  return { app, get, operations: deps.operations };
}

const version = { hash: "a".repeat(32), commit: null, dirty: null };
const difference: RunDifference = {
  from: { instanceId: "dev-aaaaaaaa", version },
  to: { instanceId: "dev-bbbbbbbb", version: { ...version, hash: "b".repeat(32) } },
  changed: true,
  text: "--- a\n+++ b\n",
};

test("a run is answered by its instance id", async () => {
  const { get, operations } = await started();
  const run = aRunView("dev-bbbbbbbb");
  operations.runs.set("dev-bbbbbbbb", run);
  expect((await get("/api/runs/dev-bbbbbbbb")).json()).toEqual(run);
});

test("the difference is to the run that is named, or to none in particular", async () => {
  const { get, operations } = await started();
  operations.differences.set("dev-bbbbbbbb", difference);
  expect((await get("/api/runs/dev-bbbbbbbb/diff")).json()).toEqual(difference);
  await get("/api/runs/dev-bbbbbbbb/diff?to=dev-aaaaaaaa");
  expect(operations.calls).toEqual([
    "runDifference dev-bbbbbbbb null",
    "runDifference dev-bbbbbbbb dev-aaaaaaaa",
  ]);
});

test.each([
  "/api/runs/dev-cccccccc",
  "/api/runs/dev-cccccccc/diff",
  "/api/runs/dev",
  "/api/runs/dev-bbbbbbbb/diff?to=..",
  "/api/runs/..%2f..%2fdev-bbbbbbbb",
])("%s is no run", async (url) => {
  const { get } = await started();
  const answer = await get(url);
  expect([answer.statusCode, answer.json()]).toMatchObject([404, { error: "unknown_instance" }]);
});

test("without the key there is none", async () => {
  const { app } = await started();
  const answer = await app.inject({ url: "/api/runs/dev-bbbbbbbb" });
  expect(answer.statusCode).toBe(401);
});

test("the address of the latest run leads to it, or to its agent without one", async () => {
  const { app, operations } = await started();
  const leads = async (): Promise<string | undefined> => {
    const url = "/dashboard/agents/dev/runs/latest";
    return (await app.inject({ url, headers: bearer })).headers.location;
  };
  expect(await leads()).toBe("/dashboard/agents/dev");
  const at = (minute: number): string => new Date(minute * 60_000).toISOString();
  operations.entries.push(
    historyEntry({ id: "a", instanceId: "dev-aaaaaaaa", at: at(1) }),
    historyEntry({ id: "b", instanceId: "dev-bbbbbbbb", at: at(2) }),
    historyEntry({ id: "c", instanceId: null, at: at(3), outcome: "skipped" }),
  );
  expect(await leads()).toBe("/dashboard/agents/dev/runs/dev-bbbbbbbb");
});
