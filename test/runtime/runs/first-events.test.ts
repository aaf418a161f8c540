import { expect, test } from "vitest";
import { createFirstEvents } from "../../../src/runtime/runs/first-events.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";

const item: WorkItem = {
  id: "1",
  agent: "dev",
  at: 0,
  attempt: 1,
  trigger: { kind: "manual", prompt: null },
};
const started: RunEvent = {
  type: "started",
  agent: "dev",
  at: 1,
  item,
  instanceId: "dev-aaaaaaaa",
};

test("tells what happens first to a work item", async () => {
  const firstEvents = createFirstEvents(() => false);
  const first = firstEvents.of("1");
  firstEvents.see({ type: "queue-depth", agent: "dev", at: 0, depth: 1 });
  firstEvents.see({ ...started, item: { ...item, id: "2" } });
  firstEvents.see(started);
  await expect(first).resolves.toBe(started);
});

test("nobody waits for an item that is handed on after the scheduler began to stop", async () => {
  const firstEvents = createFirstEvents(() => true);
  await expect(firstEvents.of("1")).rejects.toMatchObject({ code: "draining" });
});

test("nobody waits longer than the scheduler runs", async () => {
  const firstEvents = createFirstEvents(() => false);
  const first = firstEvents.of("1");
  firstEvents.end();
  await expect(first).rejects.toMatchObject({ code: "draining" });
});
