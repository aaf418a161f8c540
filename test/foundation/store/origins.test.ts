import type { WorkItem } from "../../../streams/vocabulary.ts";
import type { Acceptance } from "../../../src/foundation/store/receipts.ts";
import {
  callItem,
  claimed,
  cronItem,
  manualItem,
  reopened,
  requestFor,
  tempStore,
  webhookItem,
} from "./support.ts";

interface Names {
  readonly author?: string | null;
  readonly sender?: string | null;
}

function delivered(id: string, names: Names, agent = "dev"): WorkItem {
  const item = webhookItem(`w-${id}`, id, agent);
  if (item.trigger.kind !== "webhook") throw new Error("not a delivery");
  return { ...item, trigger: { ...item.trigger, event: { ...item.trigger.event, ...names } } };
}

function gathering(id: string, names: Names): Acceptance {
  const from = { source: "gh", type: "github", deliveryId: id, headers: {}, reason: null };
  return {
    receipt: { id, at: 1_000, body: Buffer.from(id), matched: ["dev"], ...from },
    items: [delivered(id, names)],
    taken: [],
    deadLetters: [],
    gatherings: new Map([["dev", { key: "", maxBytes: null }]]),
  };
}

const continuing = (instanceId: string): WorkItem => ({
  ...manualItem("again"),
  trigger: { kind: "manual", prompt: "go", continues: { instanceId, endedAt: 1 } },
});

describe("the names at the origin of a run", () => {
  test("are null for a schedule, a person, and a call of those", async () => {
    const store = tempStore();
    await claimed(store, manualItem("m"), "ops-1");
    await claimed(store, callItem("c"), "dev-1");
    await claimed(store, cronItem("t"), "dev-2");
    expect(["ops-1", "dev-1", "dev-2"].map(store.origins.namesOf)).toEqual([null, null, null]);
  });

  test("are author and sender of its delivery, and an empty one without both", async () => {
    const store = tempStore();
    await claimed(store, delivered("r1", { author: "mona", sender: "hubot" }), "dev-1");
    await claimed(store, delivered("r2", { sender: "mona" }), "dev-2");
    await claimed(store, delivered("r3", {}), "dev-3");
    const names = ["dev-1", "dev-2", "dev-3"].map(store.origins.namesOf);
    expect(names).toEqual([["hubot", "mona"], ["mona"], [""]]);
  });

  test("follow calls and continued sessions up to the delivery", async () => {
    const store = tempStore();
    await claimed(store, delivered("r1", { author: "mallory" }, "ops"), "ops-1");
    await claimed(store, callItem("c"), "dev-1");
    await claimed(store, continuing("dev-1"), "dev-2");
    await claimed(store, callItem("d", { callerInstance: "dev-2" }), "dev-3");
    expect(store.origins.namesOf("dev-3")).toEqual(["mallory"]);
  });

  test("contain an empty name if the history lacks a run that led to it", async () => {
    const store = tempStore();
    await claimed(store, continuing("dev-9"), "dev-2");
    expect(store.origins.namesOf("dev-2")).toEqual([""]);
  });

  test("contain those of a delivery that the run took while it waited", async () => {
    const store = tempStore();
    await claimed(store, cronItem("t"), "dev-1");
    const run = { agent: "dev", instanceId: "dev-1", key: "k" };
    const condition = { kind: "webhook" } as const;
    await store.waits.add({ ...run, since: 1_000, until: 9_000, condition });
    const item = delivered("r1", { author: "mallory" });
    const by = { ...run, answer: {}, waitedMs: 0, isWaiting: () => true };
    const { receipt, deadLetters } = gathering("r1", {});
    const taken = [{ item, by, startsRun: false }];
    await store.receipts.accept({ receipt, items: [], taken, deadLetters });
    expect(store.origins.namesOf("dev-1")).toEqual(["mallory"]);
  });

  test("are those of all gathered deliveries, which a replay keeps, and an empty one for a deleted receipt", async () => {
    const store = tempStore();
    await store.receipts.accept(gathering("r1", { author: "mallory" }));
    await store.receipts.accept(gathering("r2", {}));
    await store.receipts.accept(gathering("r3", { author: "mona", sender: "mona" }));
    const item = await store.gatherings.start("dev", "");
    if (item === null) throw new Error("no work");
    await store.work.claim(requestFor(item, "dev-1"));
    await claimed(store, { ...item, id: "again", replayOf: item.id }, "dev-2");
    const after = reopened(store);
    expect(after.origins.namesOf("dev-1")).toEqual(["", "mallory", "mona"]);
    expect(after.origins.namesOf("dev-2")).toEqual(["", "mallory", "mona"]);
    await claimed(after, { ...item, id: "third", gathered: ["r3", "gone"] }, "dev-3");
    expect(after.origins.namesOf("dev-3")).toEqual(["", "mona"]);
  });
});
