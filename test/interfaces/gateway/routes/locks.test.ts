import { expect, onTestFinished, test } from "vitest";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { bearer, testDeps } from "../start-gateway.ts";

test("locks are told as they are held, none as an empty list", async () => {
  const deps = testDeps();
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const ask = async (): Promise<unknown> =>
    (await app.inject({ url: "/locks/status", headers: bearer })).json();
  expect(await ask()).toEqual({ locks: [] });
  const lock = {
    resource: "deploy",
    agent: "dev",
    instanceId: "dev-abcdefgh",
    heldSince: "2026-11-21T00:00:00.000Z",
    expiresAt: "2026-11-21T00:30:00.000Z",
  };
  deps.operations.heldLocks.push(lock);
  expect(await ask()).toEqual({ locks: [lock] });
});
