import type { Acceptance } from "../../../src/foundation/store/receipts.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import type { WaitEnd } from "../../../src/foundation/store/waits.ts";
import type { Wait } from "../../../src/foundation/contracts/run-state.ts";
import { beginRun, claimed, manualItem, reopened, requestFor } from "./support.ts";
import { tempStore, webhookItem, wholeHistory } from "./support.ts";

interface Gathered {
  readonly agent?: string;
  readonly key?: string;
  readonly at?: number;
  readonly bytes?: number;
  /** Limit of the bodies together. */
  readonly maxBytes?: number | null;
}

function gathering(id: string, options: Gathered = {}): Acceptance {
  const { agent = "dev", key = "", at = 1_000, bytes = 10, maxBytes = null } = options;
  const from = { source: "gh", type: "github", deliveryId: id, headers: {}, reason: null };
  return {
    receipt: { id, at, body: Buffer.alloc(bytes), matched: [agent], ...from },
    items: [webhookItem(`w-${id}`, id, agent, at)],
    taken: [],
    deadLetters: [],
    gatherings: new Map([[agent, { key, maxBytes }]]),
  };
}

async function gather(store: Store, ids: readonly string[], options: Gathered = {}) {
  for (const id of ids) await store.receipts.accept(gathering(id, options));
}

const history = (store: Store) => store.history.query(wholeHistory).triggers.toReversed();
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `r${n}`);

describe("gathering deliveries", () => {
  test("are no work until they start one item, which has all receipts in order and the latest trigger", async () => {
    const store = tempStore();
    const accepted = await store.receipts.accept(gathering("r1", { key: "k" }));
    expect(accepted).toMatchObject({ queued: [], gathering: [{ agent: "dev", key: "k" }] });
    await gather(store, ["r2", "r3"], { key: "k", at: 2_000 });
    expect([history(store), store.waitingWork.count("dev")]).toEqual([[], 0]);
    expect(store.gatherings.all()).toEqual([
      { agent: "dev", key: "k", since: 1_000, last: 2_000, count: 3 },
    ]);
    const item = await store.gatherings.start("dev", "k");
    const last = webhookItem("w-r3", "r3", "dev", 2_000);
    expect(item).toEqual({ ...last, gathered: ["r1", "r2", "r3"] });
    expect(await store.gatherings.start("dev", "k")).toBeNull();
    expect(history(store)).toMatchObject([{ id: "w-r3", receiptId: "r3", outcome: null }]);
  });

  test("start an ordinary item if there is one", async () => {
    const store = tempStore();
    await gather(store, ["r1"]);
    expect(await store.gatherings.start("dev", "")).toEqual(webhookItem("w-r1", "r1"));
  });

  test("are counted once, however often the same delivery comes", async () => {
    const store = tempStore();
    await gather(store, ["r1", "r1"]);
    expect(store.gatherings.of("dev", "").count).toBe(1);
  });

  test("are one if they report the same event, while they gather and once they started a run", async () => {
    const store = tempStore();
    const accept = (id: string, dedupKey: string) =>
      store.receipts.accept({ ...gathering(id), dedupKey });
    for (const id of ["r1", "r2"]) await accept(id, `message of ${id}`);
    const duplicate = { duplicate: true, receiptId: "r1" };
    expect(await accept("r3", "message of r1")).toEqual(duplicate);
    expect(await store.gatherings.start("dev", "")).toMatchObject({ gathered: ["r1", "r2"] });
    expect(await accept("r4", "message of r1")).toEqual(duplicate);
  });

  test("of other keys and agents stay when one key starts", async () => {
    const store = tempStore();
    await gather(store, ["r1"], { key: "a" });
    await gather(store, ["r2"], { key: "b" });
    await gather(store, ["r3"], { agent: "ops", key: "a" });
    await store.gatherings.start("dev", "a");
    const left = store.gatherings.all().map(({ agent, key }) => `${agent} ${key}`);
    expect(left).toEqual(["dev b", "ops a"]);
    expect(store.gatherings.ofAgent("dev")).toHaveLength(1);
  });

  test("are at most 100: older ones are returned as work to refuse, and the first arrival stays", async () => {
    const store = tempStore();
    await gather(store, ["first"], { at: 500 });
    await gather(store, numbered(99));
    const accepted = await store.receipts.accept(gathering("r99"));
    const dropped = [webhookItem("w-first", "first", "dev", 500)];
    expect(accepted).toMatchObject({ gathering: [{ dropped }] });
    expect(store.gatherings.of("dev", "")).toMatchObject({ since: 500, count: 100 });
    expect(store.waitingWork.after(0).items).toEqual(dropped);
    expect((await store.gatherings.start("dev", ""))?.gathered).toEqual(numbered(100));
  });

  test.each([
    ["keep within 1 MiB", 1024 * 1024, ["r1", "r2"]],
    ["may have bodies of any size if their run gets the latest", null, ["r0", "r1", "r2"]],
  ] as const)("%s", async (_does, maxBytes, left) => {
    const store = tempStore();
    await gather(store, numbered(3), { bytes: 500_000, maxBytes });
    expect((await store.gatherings.start("dev", ""))?.gathered).toEqual(left);
  });

  test("include the latest, however large it is", async () => {
    const store = tempStore();
    await gather(store, ["r1", "r2"], { bytes: 2_000_000, maxBytes: 1024 * 1024 });
    expect(await store.gatherings.start("dev", "")).toEqual(webhookItem("w-r2", "r2"));
  });

  test("survive a crash as they are, and wait for their run as one item once they started", async () => {
    const first = tempStore();
    await gather(first, ["r1", "r2"]);
    const second = reopened(first);
    expect((await second.recover()).requeue).toEqual([]);
    const item = await second.gatherings.start("dev", "");
    const third = reopened(second);
    expect((await third.recover()).requeue).toEqual([item]);
    expect(third.waitingWork.after(0).items).toEqual([item]);
    expect(third.originals.of("w-r2")).toMatchObject({ gathered: ["r1", "r2"] });
  });

  test("are all retried when their run is lost", async () => {
    const first = tempStore();
    await gather(first, ["r1", "r2"]);
    const item = await first.gatherings.start("dev", "");
    await beginRun(first, requestFor(item ?? manualItem("none"), "dev-1"));
    const { requeue } = await reopened(first).recover();
    expect(requeue).toMatchObject([{ attempt: 2, gathered: ["r1", "r2"] }]);
  });

  test("keep their receipts while they gather and while their work is open", async () => {
    const store = tempStore();
    await gather(store, ["r1", "r2"]);
    const prune = () => store.prune({ now: 1e13, days: 1, maxBytes: 1e12 });
    const kept = () => ["r1", "r2"].filter((id) => store.receipts.get(id) !== null);
    await prune();
    expect(kept()).toEqual(["r1", "r2"]);
    const item = await store.gatherings.start("dev", "");
    await prune();
    expect(kept()).toEqual(["r1", "r2"]);
    await store.work.refuse(item ?? manualItem("none"), "dropped", "r", true);
    await prune();
    expect(kept()).toEqual([]);
  });
});

describe("a live run that waits for a delivery", () => {
  const wait: Wait = {
    key: "k",
    instanceId: "dev-1",
    agent: "dev",
    since: 1_000,
    until: 9_000,
    condition: { kind: "webhook", source: "gh" },
  };
  const end: WaitEnd = { key: "k", instanceId: "dev-1", answer: { it: 1 }, waitedMs: 0 };

  async function waitingStore(): Promise<Store> {
    const store = tempStore(undefined, () => 900);
    await claimed(store, manualItem("a"), "dev-1");
    await store.waits.add(wait);
    return store;
  }

  test("takes one that gathers, which then starts no other run", async () => {
    const store = await waitingStore();
    await gather(store, ["r1", "r2"]);
    expect(store.past.deliveries(wait, null).receiptIds).toEqual(["r1", "r2"]);
    expect(await store.past.take(webhookItem("new", "r1"), end)).toEqual({ answer: end.answer });
    expect(await store.gatherings.start("dev", "")).toEqual(webhookItem("w-r2", "r2"));
  });

  test("finds one that gathers by its event", async () => {
    const store = await waitingStore();
    await gather(store, ["r1"]);
    const of = (event: string) => ({ ...wait, condition: { ...wait.condition, event } });
    expect(store.past.deliveries(of("issues"), null).receiptIds).toEqual(["r1"]);
    expect(store.past.deliveries(of("push"), null).receiptIds).toEqual([]);
  });

  test("takes no delivery of an item that has formed", async () => {
    const store = await waitingStore();
    await gather(store, ["r1", "r2"]);
    await store.gatherings.start("dev", "");
    expect(store.past.queued(wait, 0)).toEqual([]);
    expect(store.past.deliveries(wait, null).receiptIds).toEqual([]);
    expect(await store.past.take(webhookItem("new", "r1"), end)).toBeNull();
    expect(store.waits.all()).toHaveLength(1);
  });

  test("lets its delivery gather if it no longer waits when the delivery is committed", async () => {
    const store = tempStore();
    const { items, ...acceptance } = gathering("r1");
    const by = { ...end, agent: "dev", isWaiting: () => false };
    const taken = items.map((item) => ({ item, by, startsRun: true }));
    await store.receipts.accept({ ...acceptance, items: [], taken });
    expect(store.gatherings.of("dev", "").count).toBe(1);
  });
});
