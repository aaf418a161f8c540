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

test("the first event of a work item is returned", async () => {
  const firstEvents = createFirstEvents(() => false);
  const first = firstEvents.of("1");
  firstEvents.see({ type: "queue-depth", agent: "dev", at: 0, depth: 1 });
  firstEvents.see({ ...started, item: { ...item, id: "2" } });
  firstEvents.see(started);
  await expect(first).resolves.toBe(started);
});

test("waiting for an item is rejected after the scheduler began to stop", async () => {
  const firstEvents = createFirstEvents(() => true);
  await expect(firstEvents.of("1")).rejects.toMatchObject({ code: "draining" });
});

test("waiting for an item ends with the scheduler", async () => {
  const firstEvents = createFirstEvents(() => false);
  const first = firstEvents.of("1");
  firstEvents.end();
  await expect(first).rejects.toMatchObject({ code: "draining" });
});
