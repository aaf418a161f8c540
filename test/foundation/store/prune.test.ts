import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "../../../src/foundation/store/store.ts";
import { callItem, claimed, cronItem, manualItem, succeeded } from "./support.ts";
import { tempStore, webhookItem, wholeHistory } from "./support.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const dayMs = 86_400_000;
const now = 100 * dayMs;
const plenty = 1e12;

async function receive(store: Store, id: string, at: number, bytes = 10): Promise<void> {
  const receipt = { id, at, source: "gh", type: "github", deliveryId: id, headers: {} };
  const items = [webhookItem(`w-${id}`, id, "dev", at)];
  await store.receipts.accept({
    receipt: { ...receipt, body: randomBytes(bytes), matched: ["dev"], reason: null },
    items,
    taken: [],
    deadLetters: [],
  });
}

async function drop(store: Store, id: string, at: number): Promise<void> {
  await store.work.refuse(webhookItem(`w-${id}`, id, "dev", at), "dropped", "r", true);
}

test("large bodies are deleted a few at a time, so that other writes don't wait", async () => {
  const store = tempStore();
  const large = 3 * 1024 * 1024;
  for (let n = 0; n < 4; n++) {
    await receive(store, `r${n}`, now - 20 * dayMs + n, large);
    await drop(store, `r${n}`, now - 20 * dayMs + n);
  }
  let gone = 0;
  const pruning = store.prune({ now, days: 14, maxBytes: plenty }).then(() => (gone = 4));
  const seen = new Set<number>();
  while (gone < 4) {
    seen.add(["r0", "r1", "r2", "r3"].filter((id) => store.receipts.get(id) === null).length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await pruning).toBe(4);
  expect([...seen]).toContain(2);
  expect(store.receipts.get("r3")).toBeNull();
});

test("rows older than their days are deleted in batches, totals follow, and writes continue meanwhile", async () => {
  const store = tempStore();
  const skip = (id: string, at: number) =>
    store.work.refuse(cronItem(id, "dev", at), "skipped", "r", false);
  await Promise.all(Array.from({ length: 3000 }, (_, i) => skip(`old${i}`, now - 15 * dayMs + i)));
  await skip("young", now - 13 * dayMs);
  const order: unknown[] = [];
  const pruning = store.prune({ now, days: 14, maxBytes: plenty }).then((n) => order.push(n));
  await store.work.enqueue([manualItem("m", "dev", now)]).then(() => order.push("written"));
  await pruning;
  expect(order).toEqual(["written", 3000]);
  const { triggers, total } = store.history.query(wholeHistory);
  expect([triggers.map(({ id }) => id), total]).toEqual([["m", "young"], 2]);
});

test("the calls that led to live work are kept at any age", async () => {
  const store = tempStore();
  const by = (caller: string) => ({ caller, callerInstance: `${caller}-1` });
  const items = [
    manualItem("r", "root"),
    callItem("m", by("root"), "middle"),
    callItem("l", by("middle"), "leaf"),
  ];
  for (const item of items) await claimed(store, item, `${item.agent}-1`);
  const end = (item: WorkItem) =>
    store.work.end(item, { instanceId: `${item.agent}-1`, startedAt: 0, end: succeeded });
  for (const item of items.slice(0, 2)) await end(item);
  await store.prune({ now, days: 14, maxBytes: 0 });
  expect(store.calls.ledTo("leaf-1").map(({ agent }) => agent)).toEqual(["middle", "root"]);
  for (const item of items.slice(2)) await end(item);
  const continues = { instanceId: "leaf-1", endedAt: 0 };
  const next = {
    ...manualItem("n"),
    trigger: { kind: "manual", prompt: null, continues },
  } as const;
  await store.work.enqueue([next]);
  await store.prune({ now, days: 14, maxBytes: plenty });
  expect(store.history.query(wholeHistory).triggers).toHaveLength(4);
  await store.work.refuse(next, "dropped", "r", false);
  await store.prune({ now, days: 14, maxBytes: plenty });
  expect(store.history.query(wholeHistory).triggers).toEqual([]);
});

test("waiting work and its receipt are kept at any age", async () => {
  const store = tempStore();
  await receive(store, "r1", 5);
  await receive(store, "r2", 5);
  await drop(store, "r2", 5);
  await store.work.enqueue([manualItem("m", "dev", 5)]);
  await store.prune({ now, days: 14, maxBytes: 0 });
  const left = store.history.query(wholeHistory).triggers.map(({ id }) => id);
  expect(left).toEqual(["m", "w-r1"]);
  expect(store.receipts.get("r1")).not.toBeNull();
  expect(store.receipts.get("r2")).toBeNull();
});

test("above the size limit the oldest rows are deleted first, and the file shrinks", async () => {
  const dir = tempDir();
  const store = tempStore(dir);
  for (let i = 0; i < 100; i++) {
    await receive(store, `r${i}`, now - 100 + i, 100_000);
    await drop(store, `r${i}`, now - 100 + i);
  }
  const maxBytes = 5_000_000;
  const receipts = (await store.prune({ now, days: 14, maxBytes })) / 2;
  expect(receipts).toBeGreaterThanOrEqual(50);
  expect(receipts).toBeLessThan(100);
  expect(store.receipts.get(`r${receipts - 1}`)).toBeNull();
  expect(store.receipts.get("r99")).not.toBeNull();
  store.close();
  expect(statSync(join(dir, ".al", "state.db")).size).toBeLessThan(maxBytes + 200_000);
});
