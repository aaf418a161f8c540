import { describe, expect, test } from "vitest";
import { retryWork } from "../../src/start/record-work.ts";
import type { RunEvent, WorkItem } from "../../streams/vocabulary.ts";
import { anItem } from "../helpers/agents.ts";

function ended(outcome: "lost" | "interrupted" | "failed", attempt: number): RunEvent {
  const end = { outcome, exitCode: null, reason: null, usage: null } as const;
  const item = { ...anItem("1"), attempt };
  return { type: "finished", agent: "dev", at: 1, item, instanceId: "dev-1", startedAt: 0, end };
}

async function retried(event: RunEvent): Promise<string[]> {
  const steps: string[] = [];
  const say = (what: string) => (items: readonly WorkItem[]) =>
    items.forEach(({ attempt, agent }) => steps.push(`${what} ${agent} attempt ${attempt}`));
  const requeue = (items: readonly WorkItem[]): Promise<void> => {
    say("stored")(items);
    return Promise.resolve();
  };
  await retryWork(event, { requeue }, say("started"));
  return steps;
}

describe.each(["lost", "interrupted"] as const)("a run that was %s", (outcome) => {
  test("has its work stored once more, then started", async () => {
    expect(await retried(ended(outcome, 1))).toEqual([
      "stored dev attempt 2",
      "started dev attempt 2",
    ]);
  });

  test("is not tried a third time", async () => {
    expect(await retried(ended(outcome, 2))).toEqual([]);
  });
});

test("a run that failed is not tried again", async () => {
  expect(await retried(ended("failed", 1))).toEqual([]);
});
