import { describe, expect, test } from "vitest";
import { pingOf } from "../../../src/features/heartbeat/run-pings.ts";
import type { Outcome, RunEvent, WorkItem } from "../../../streams/vocabulary.ts";

const item: WorkItem = {
  id: "w1",
  agent: "dev",
  at: 0,
  attempt: 1,
  trigger: { kind: "cron", scheduledFor: 0 },
};
const run = { agent: "dev", instanceId: "dev-1", startedAt: 1_000, at: 4_000 };

function finished(outcome: Outcome, attempt = 1, reason: string | null = "why"): RunEvent {
  const end = { outcome, exitCode: 1, reason, usage: null };
  return { ...run, type: "finished", item: { ...item, attempt }, end };
}

describe("a run's event, to the monitor of its agent", () => {
  test("a start", () => {
    const { agent, instanceId, at, startedAt } = run;
    expect(pingOf({ type: "started", agent, at, item, instanceId })).toEqual({ type: "started" });
    expect(pingOf({ type: "started", agent, at, item, instanceId, startedAt })).toBeNull();
  });

  test("a success", () => {
    expect(pingOf(finished("succeeded"))).toEqual({ type: "succeeded", durationMs: 3_000 });
  });

  test.each([
    ["failed", 1, "dev-1 failed: why"],
    ["timed_out", 1, "dev-1 timed out: why"],
    ["out_of_memory", 1, "dev-1 out of memory: why"],
    ["over_budget", 1, "dev-1 over budget: why"],
    ["lost", 2, "dev-1 lost: why"],
  ] as const)("%s at attempt %s is a failure", (outcome, attempt, reason) => {
    const ping = { type: "failed", durationMs: 3_000, reason };
    expect(pingOf(finished(outcome, attempt))).toEqual(ping);
  });

  test.each([
    ["killed", 1],
    ["interrupted", 1],
    ["interrupted", 2],
    ["lost", 1],
  ] as const)("%s at attempt %s is neither", (outcome, attempt) => {
    expect(pingOf(finished(outcome, attempt))).toBeNull();
  });

  test("a reason is cut", () => {
    const ping = pingOf(finished("failed", 1, "x".repeat(1000)));
    expect(ping).toMatchObject({ type: "failed" });
    expect(ping?.type === "failed" && ping.reason.length).toBe(300);
  });

  test("other events are none", () => {
    expect(pingOf({ type: "queued", agent: "dev", at: 0, item })).toBeNull();
  });
});
