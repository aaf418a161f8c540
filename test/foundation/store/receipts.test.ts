import type { Acceptance } from "../../../src/foundation/store/receipts.ts";
import { manualItem, tempStore, webhookItem, wholeHistory } from "./support.ts";

function delivery(id: string, deliveryId: string | null, body: string): Acceptance {
  const receipt = {
    id,
    at: 1_000,
    source: "gh",
    type: "github",
    deliveryId,
    headers: { "x-github-event": "issues" },
    body: Buffer.from(body),
    matched: ["dev"],
    reason: "agent disabled: other",
  };
  return { receipt, items: [webhookItem(`item-${id}`, id)], taken: [], deadLetters: [] };
}

test("a receipt is kept byte for byte with its work", async () => {
  const store = tempStore();
  const acceptance = delivery("r1", "d1", '{"a":"\u00e9"}');
  expect(await store.receipts.accept(acceptance)).toMatchObject({ duplicate: false });
  const { body, ...rest } = acceptance.receipt;
  const stored = store.receipts.get("r1");
  expect(stored).toMatchObject(rest);
  expect(Buffer.from(stored?.body ?? []).equals(body)).toBe(true);
  expect(store.history.query(wholeHistory).triggers[0]).toMatchObject({ receiptId: "r1" });
  expect(store.receipts.get("r2")).toBeNull();
});

test("the same delivery again is a duplicate, also while the first is being committed", async () => {
  const store = tempStore();
  const answers = await Promise.all([
    store.receipts.accept(delivery("r1", "d1", "body")),
    store.receipts.accept(delivery("r2", "d1", "body")),
  ]);
  const third = await store.receipts.accept(delivery("r3", "d1", "body"));
  const duplicate = { duplicate: true, receiptId: "r1" };
  expect([...answers, third]).toMatchObject([{ duplicate: false }, duplicate, duplicate]);
  expect(store.history.query(wholeHistory).total).toBe(1);
});

test("another body, another source or no delivery id is not a duplicate", async () => {
  const store = tempStore();
  const other = delivery("r3", "d1", "body");
  for (const one of [
    delivery("r1", "d1", "body"),
    delivery("r2", "d1", "changed"),
    { ...other, receipt: { ...other.receipt, source: "gh2" } },
    delivery("r4", null, "body"),
    delivery("r5", null, "body"),
  ]) {
    expect(await store.receipts.accept(one)).toMatchObject({ duplicate: false });
  }
});

test("a receipt whose work cannot be written is not accepted at all", async () => {
  const store = tempStore();
  await store.work.enqueue([manualItem("item-r1")]);
  await expect(store.receipts.accept(delivery("r1", "d1", "body"))).rejects.toThrow();
  expect(store.receipts.get("r1")).toBeNull();
  const again = { ...delivery("r2", "d1", "body") };
  expect(await store.receipts.accept(again)).toMatchObject({ duplicate: false });
});
