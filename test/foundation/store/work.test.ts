import {
  manualItem,
  tempStore,
  webhookItem,
  wholeHistory,
  cronItem,
  requestFor,
  succeeded,
  claimed,
} from "./support.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import type { RunEnd } from "../../../streams/vocabulary.ts";

const entryOf = (store: Store, id: string) =>
  store.history.query(wholeHistory).triggers.find((entry) => entry.id === id);

test("a work item waits, runs and ends in one history entry", async () => {
  let now = 2_000;
  const store = tempStore(undefined, () => now);
  const item = webhookItem("a", "r1");
  await store.work.enqueue([item]);
  expect(entryOf(store, "a")).toMatchObject({ receiptId: "r1", outcome: null, startedAt: null });
  await store.work.claim(requestFor(item));
  expect(entryOf(store, "a")).toMatchObject({ instanceId: "dev-aaaaaaaa", outcome: null });
  now = 5_000;
  await store.work.end(item, { instanceId: "dev-aaaaaaaa", startedAt: 2_500, end: succeeded });
  const at = (ms: number) => new Date(ms).toISOString();
  expect(entryOf(store, "a")).toEqual(
    historyEntry({
      id: "a",
      at: at(1_000),
      kind: "webhook",
      source: "gh",
      event: "issues",
      action: "opened",
      receiptId: "r1",
      instanceId: "dev-aaaaaaaa",
      startedAt: at(2_500),
      endedAt: at(5_000),
      durationMs: 2_500,
      model: "m",
      tokens: 12,
      costUsd: 0.5,
    }),
  );
});

test("the history cuts a long return value of a run", async () => {
  const store = tempStore();
  const item = manualItem("a");
  await claimed(store, item);
  const end = { ...succeeded, value: "x".repeat(5_000) };
  await store.work.end(item, { instanceId: "dev-aaaaaaaa", startedAt: 0, end });
  expect(entryOf(store, "a")?.value).toBe(`"${"x".repeat(999)}…`);
});

test("enqueue adds all work items or none", async () => {
  const store = tempStore();
  await store.work.enqueue([manualItem("a")]);
  await expect(store.work.enqueue([manualItem("b"), manualItem("a")])).rejects.toThrow();
  expect(store.history.query(wholeHistory).total).toBe(1);
});

test("a work item is claimed once", async () => {
  const store = tempStore();
  const item = manualItem("a");
  await store.work.enqueue([item]);
  const claims = await Promise.allSettled([
    store.work.claim(requestFor(item, "dev-11111111")),
    store.work.claim(requestFor(item, "dev-22222222")),
  ]);
  expect(claims.map((claim) => claim.status)).toEqual(["fulfilled", "rejected"]);
  expect(entryOf(store, "a")?.instanceId).toBe("dev-11111111");
});

test("a work item that was never added cannot be claimed, but a cron item is added by its claim", async () => {
  const store = tempStore();
  await expect(store.work.claim(requestFor(manualItem("a")))).rejects.toThrow("was never added");
  await store.work.claim(requestFor(cronItem("c")));
  expect(entryOf(store, "c")).toMatchObject({ kind: "cron", instanceId: "dev-aaaaaaaa" });
});

test("a dropped work item is a dead letter and can't be claimed", async () => {
  const store = tempStore();
  const item = manualItem("a");
  await store.work.enqueue([item]);
  await store.work.refuse(item, "dropped", "queue_full", true);
  expect(entryOf(store, "a")).toMatchObject({
    outcome: "dropped",
    reason: "queue_full",
    deadLetter: true,
    startedAt: null,
  });
  await expect(store.work.claim(requestFor(item))).rejects.toThrow("is ended");
});

test("only the instance that runs a work item can end it, and only once", async () => {
  const store = tempStore();
  const item = manualItem("a");
  await claimed(store, item, "dev-11111111");
  const ended = (instanceId: string) =>
    store.work.end(item, { instanceId, startedAt: 1, end: succeeded });
  await expect(ended("dev-22222222")).rejects.toThrow("not run by");
  await ended("dev-11111111");
  await expect(ended("dev-11111111")).rejects.toThrow("not run by");
});

test("a run that its runner rejected becomes a dead letter, unless cron started it", async () => {
  const store = tempStore();
  const end: RunEnd = { outcome: "rejected", exitCode: null, reason: "no image", usage: null };
  const manual = manualItem("m");
  await store.work.enqueue([manual]);
  for (const item of [manual, cronItem("c")]) {
    await store.work.claim(requestFor(item, `dev-${item.id}`));
    await store.work.end(item, { instanceId: `dev-${item.id}`, startedAt: 1, end });
  }
  const rejected = { deadLetter: true, startedAt: null, reason: "no image" };
  expect(entryOf(store, "m")).toMatchObject(rejected);
  expect(entryOf(store, "c")).toMatchObject({ deadLetter: false, outcome: "rejected" });
  // So that a restart does not forget why the agent can't run.
  expect(store.lastRun("dev")).toMatchObject({ outcome: "rejected", reason: "no image" });
});

test("each agent's latest run is known, in whatever order runs end", async () => {
  let now = 10;
  const store = tempStore(undefined, () => now);
  const [a, b, c] = [manualItem("a"), manualItem("b"), manualItem("c", "ops")];
  for (const item of [a, b, c]) await claimed(store, item);
  const instanceId = "dev-aaaaaaaa";
  now = 90;
  const failed = { outcome: "failed", reason: "no" } as const;
  await store.work.end(b, { instanceId, startedAt: 50, end: { ...succeeded, ...failed } });
  await store.work.end(a, { instanceId, startedAt: 20, end: succeeded });
  await store.work.end(c, { instanceId: "ops-aaaaaaaa", startedAt: 30, end: succeeded });
  expect(store.lastRun("dev")).toEqual({ startedAt: 50, endedAt: 90, ...failed });
  expect(store.lastRun("ops")).toMatchObject({ startedAt: 30, outcome: "succeeded" });
  expect(store.lastRun("web")).toBeNull();
});

test("a running work item cannot be refused", async () => {
  const store = tempStore();
  const item = manualItem("a");
  await claimed(store, item);
  await expect(store.work.refuse(item, "dropped", "x", true)).rejects.toThrow("is running");
  expect(entryOf(store, "a")?.outcome).toBeNull();
});
