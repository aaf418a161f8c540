import { expect, onTestFinished, test } from "vitest";
import { tcpApp } from "../../../../src/interfaces/gateway/app.ts";
import { testDeps } from "../start-gateway.ts";

test("it is well as long as it answers, and ready only while it takes work", async () => {
  const deps = testDeps();
  const app = await tcpApp(deps);
  onTestFinished(() => app.close());
  const health = await app.inject({ url: "/health" });
  expect(health.json()).toEqual({ status: "ok", uptimeSeconds: 0 });
  expect((await app.inject({ url: "/health/ready" })).statusCode).toBe(200);
  for (const phase of ["starting", "draining"] as const) {
    deps.operations.phaseNow = phase;
    const ready = await app.inject({ url: "/health/ready" });
    expect(ready.statusCode).toBe(503);
    expect(ready.json()).toMatchObject({ error: phase });
    expect((await app.inject({ url: "/health" })).statusCode).toBe(200);
  }
  deps.operations.phaseNow = "running";
  deps.operations.storeProblemNow = "database or disk is full";
  const full = await app.inject({ url: "/health/ready" });
  expect(full.statusCode).toBe(503);
  expect(full.json()).toMatchObject({ error: "store_unavailable" });
  expect(full.body).toContain("disk is full");
});
