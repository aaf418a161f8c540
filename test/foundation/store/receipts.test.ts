import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Acceptance } from "../../../src/foundation/store/receipts.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { manualItem, tempStore, webhookItem, wholeHistory } from "./support.ts";

function delivery(
  id: string,
  deliveryId: string | null,
  body: string,
  more: Partial<Acceptance> = {},
): Acceptance {
  const receipt = {
    id,
    at: 1_000,
    source: "gh",
    type: "github",
    deliveryId,
    headers: { "x-github-event": "issues" },
    body: Buffer.from(body),
    matched: more.items?.length === 0 ? [] : ["dev"],
    reason: "agent disabled: other",
  };
  const items = [webhookItem(`item-${id}`, id)];
  return { receipt, items, taken: [], deadLetters: [], ...more };
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

test("a delivery with another body, another source or no id is not a duplicate", async () => {
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

test("the same body under another id is a duplicate for providers whose bodies all differ", async () => {
  const store = tempStore();
  const accept = (id: string, deliveryId: string | null, body: string) =>
    store.receipts.accept(delivery(id, deliveryId, body, { isKnownByBody: true }));
  const answers = await Promise.all([
    accept("r1", "d1", "body"),
    accept("r2", "d2", "body"),
    accept("r3", null, "body"),
    accept("r4", "d1", "changed"),
  ]);
  const duplicate = { duplicate: true, receiptId: "r1" };
  expect(answers).toMatchObject([{ duplicate: false }, duplicate, duplicate, { duplicate: false }]);
});

test.each([
  ["id", {}],
  ["body", { isKnownByBody: true }],
] as const)(
  "a delivery repeated by its %s whose first one started nothing is accepted once it starts work",
  async (_by, known) => {
    const store = tempStore();
    const accept = (id: string, starts: boolean) =>
      store.receipts.accept(delivery(id, "d1", "body", starts ? known : { ...known, items: [] }));
    expect(await accept("r1", false)).toMatchObject({ duplicate: false, queued: [] });
    expect(await accept("r2", false)).toMatchObject({ duplicate: true, receiptId: "r1" });
    const answers = await Promise.all([accept("r3", true), accept("r4", true)]);
    const duplicate = { duplicate: true, receiptId: "r3" };
    expect(answers).toMatchObject([{ duplicate: false, queued: [{ agent: "dev" }] }, duplicate]);
    expect(await accept("r5", false)).toMatchObject(duplicate);
  },
);

test("deliveries with one key start each agent once, and the search for earlier ones reads no unmatched ones", async () => {
  const dir = tempDir();
  const store = tempStore(dir);
  const accept = (id: string, ...agents: readonly string[]) => {
    const items = agents.map((agent) => webhookItem(`${id}-${agent}`, id, agent));
    const given = delivery(id, id, id, { items, dedupKey: "k" });
    return store.receipts.accept({ ...given, receipt: { ...given.receipt, matched: agents } });
  };
  for (const id of ["r1", "r2"]) expect(await accept(id)).toMatchObject({ duplicate: false });
  const work = (...agents: string[]) => ({
    matched: agents,
    queued: agents.map((agent) => ({ agent })),
  });
  expect(await accept("r3", "dev")).toMatchObject(work("dev"));
  expect(await accept("r4", "dev", "ops")).toMatchObject(work("ops"));
  expect(await accept("r5", "dev", "ops")).toEqual({ duplicate: true, receiptId: "r3" });
  const db = new DatabaseSync(join(dir, ".al/state.db"), { readOnly: true });
  expect(db.prepare("SELECT id FROM receipts WHERE dedup_key = 'k'").all()).toHaveLength(2);
  db.close();
});

test("a repeated delivery whose first one was replayed is a duplicate", async () => {
  const store = tempStore();
  const letter = { kind: "webhook", outcome: "rejected", agent: null, event: "issues" } as const;
  const of = { source: "gh", action: null, receiptId: "r1", reason: "no match", at: 1 };
  const deadLetters = [{ ...letter, ...of, id: "letter" }];
  await store.receipts.accept(delivery("r1", "d1", "body", { items: [], deadLetters }));
  await store.work.enqueue([webhookItem("replayed", "r1")]);
  const again = await store.receipts.accept(delivery("r2", "d1", "body"));
  expect(again).toMatchObject({ duplicate: true, receiptId: "r1" });
});

test("a receipt whose work cannot be written is not accepted at all", async () => {
  const store = tempStore();
  await store.work.enqueue([manualItem("item-r1")]);
  await expect(store.receipts.accept(delivery("r1", "d1", "body"))).rejects.toThrow();
  expect(store.receipts.get("r1")).toBeNull();
  const again = { ...delivery("r2", "d1", "body") };
  expect(await store.receipts.accept(again)).toMatchObject({ duplicate: false });
});
