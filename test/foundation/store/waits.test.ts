import type { Acceptance } from "../../../src/foundation/store/receipts.ts";
import type { Wait } from "../../../src/foundation/contracts/run-state.ts";
import { manualItem, tempStore, webhookItem, wholeHistory, claimed, reopened } from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const wait: Wait = {
  key: "k",
  instanceId: "dev-1",
  agent: "dev",
  condition: { kind: "webhook", source: "gh", where: { "issue.number": 7, open: null } },
  since: 1_000,
  until: 9_000,
};

/** A delivery with nothing to start, and what a test adds. */
function delivery(id: string, more: Partial<Acceptance>): Acceptance {
  const from = { source: "gh", type: "github", deliveryId: "d", headers: {} };
  const receipt = { id, at: 1, reason: null, body: new Uint8Array(), matched: ["dev"], ...from };
  return { receipt, items: [], taken: [], deadLetters: [], ...more };
}

async function runningStore(dir = tempDir(), now?: () => number) {
  const store = tempStore(dir, now);
  const item = manualItem("a");
  await claimed(store, item, "dev-1");
  await store.waits.add(wait);
  return store;
}

test("a run's wait exists for the next scheduler, and its time so far does not count against its run", async () => {
  const dir = tempDir();
  (await runningStore(dir)).close();
  const next = tempStore(dir, () => 4_000);
  expect(next.waits.all()).toEqual([wait]);
  expect(next.openRuns()).toMatchObject([{ instanceId: "dev-1", waitedMs: 3_000 }]);
  await next.recover(new Set(["dev-1"]));
  expect(next.waits.all()).toEqual([wait]);
});

test("a wait that was met is answered again when the run asks again", async () => {
  const dir = tempDir();
  const store = await runningStore(dir);
  await store.waits.end({ ...wait, answer: { trigger: { it: 1 } }, waitedMs: 2_500 });
  await store.waits.end({ ...wait, answer: "later", waitedMs: 2_600 });
  store.close();
  const next = tempStore(dir, () => 90_000);
  expect(next.waits.all()).toEqual([]);
  expect(next.waits.answer("dev-1", "k")).toEqual({ trigger: { it: 1 } });
  expect(next.openRuns()).toMatchObject([{ waitedMs: 2_600 }]);
});

test("the answers to a run are deleted with it", async () => {
  const store = await runningStore();
  await store.waits.remember("dev-1", "u", { ok: true });
  await store.waits.remember("dev-2", "u", { ok: true });
  await store.waits.forget("dev-1");
  expect(store.waits.all()).toEqual([]);
  expect(store.waits.answer("dev-1", "u")).toBeUndefined();
  expect(store.waits.answer("dev-2", "u")).toEqual({ ok: true });
});

test("after a crash only live runs keep their answers", async () => {
  const first = await runningStore();
  for (const run of ["dev-1", "dev-2"]) await first.waits.remember(run, "u", run);
  const next = reopened(first);
  await next.recover(new Set(["dev-1"]));
  const answers = ["dev-1", "dev-2"].map((run) => next.waits.answer(run, "u"));
  expect(answers).toEqual(["dev-1", undefined]);
});

test("a delivery that a run takes becomes its answer in one commit, and is not queued as work", async () => {
  const dir = tempDir();
  const store = await runningStore(dir);
  const by = { ...wait, answer: { it: 1 }, waitedMs: 3, isWaiting: () => true };
  const taken = [{ item: webhookItem("w", "r"), by, startsRun: false }];
  await store.receipts.accept(delivery("r", { taken }));
  expect(store.waits.answer("dev-1", "k")).toEqual({ it: 1 });
  const [entry] = store.history.query({ ...wholeHistory, kind: "webhook" }).triggers;
  expect(entry).toMatchObject({ instanceId: "dev-1", outcome: "succeeded", deadLetter: false });
  store.close();
  const { requeue } = await tempStore(dir).recover(new Set(["dev-1"]));
  expect(requeue).toEqual([]);
});

test("a repeated delivery ends no wait", async () => {
  const store = await runningStore();
  await store.receipts.accept(delivery("r", {}));
  const by = { ...wait, answer: 1, waitedMs: 3, isWaiting: () => true };
  const taken = [{ item: webhookItem("w", "r2"), by, startsRun: true }];
  await store.receipts.accept(delivery("r2", { taken }));
  expect(store.waits.all()).toEqual([wait]);
});

test("an event that a run no longer waits for starts a run of its agent, if its filters match", async () => {
  const store = await runningStore();
  const by = { ...wait, answer: 1, waitedMs: 3, isWaiting: () => false };
  const [wanted, left] = [webhookItem("w1", "r"), webhookItem("w2", "r")];
  const taken = [
    { item: wanted, by, startsRun: true },
    { item: left, by, startsRun: false },
  ];
  const accepted = await store.receipts.accept(delivery("r", { taken }));
  expect(accepted).toMatchObject({ duplicate: false, queued: [wanted] });
  expect(store.waits.answer("dev-1", "k")).toBeUndefined();
  const entries = store.history.query({ ...wholeHistory, kind: "webhook" }).triggers;
  const outcomes = entries.map(({ id, outcome, deadLetter }) => [id, outcome, deadLetter]);
  expect(outcomes.toSorted()).toEqual([
    ["w1", null, false],
    ["w2", "rejected", true],
  ]);
});
