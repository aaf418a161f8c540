import { join } from "node:path";
import { openDatabase } from "../../../src/foundation/store/database.ts";
import { featureTables } from "../../../src/features/open-store.ts";
import { formatWith } from "../../../src/foundation/store/migrations.ts";
import { ensureStateDir } from "../../../src/foundation/store/state-dir.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import {
  callItem,
  claimed,
  manualItem,
  requestFor,
  succeeded,
  tempStore,
  wholeHistory,
  beginRun,
  reopened,
  webhookItem,
} from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const limit = 100;

test("a call is queued, runs and ends with the value that it returned", async () => {
  const store = tempStore();
  const item = callItem("a");
  expect(await store.calls.add(item, limit, null)).toBe("queued");
  const base = { callId: "call-a", agent: "dev", exitCode: null, reason: null, value: null };
  const queued = { ...base, state: "queued", outcome: null };
  expect(await store.calls.read("ops-1", ["call-a"])).toEqual([queued]);
  await store.work.claim(requestFor(item));
  expect(await store.calls.read("ops-1", ["call-a"])).toEqual([{ ...queued, state: "running" }]);
  const end = { ...succeeded, value: { text: "x".repeat(5_000) } };
  void store.work.end(item, { instanceId: "dev-aaaaaaaa", startedAt: 0, end });
  // Asked in the same turn: uncommitted rows are told already, and in full.
  expect(await store.calls.read("ops-1", ["call-a"])).toEqual([
    { ...base, state: "ended", outcome: "succeeded", exitCode: 0, value: end.value },
  ]);
});

test("a call is visible to its caller only", async () => {
  const store = tempStore();
  await store.calls.add(callItem("a"), limit, null);
  expect(await store.calls.read("ops-2", ["call-a"])).toEqual([]);
  expect(await store.calls.read("ops-1", ["call-b"])).toEqual([]);
});

test("a repeated call is made once", async () => {
  const store = tempStore();
  await store.calls.add(callItem("a"), limit, null);
  expect(await store.calls.add(callItem("b", { callId: "call-a" }), limit, null)).toBe("known");
  expect(store.calls.open()).toHaveLength(1);
});

test("each tree of calls has its own limit, whichever run calls", async () => {
  const store = tempStore();
  for (const id of ["a", "b"]) await store.calls.add(callItem(id), 2, null);
  expect(await store.calls.add(callItem("c", { caller: "dev" }), 2, null)).toBe("too_many");
  expect(await store.calls.add(callItem("d", { root: "other" }), 2, null)).toBe("queued");
});

test("the state of a call is that of its latest try", async () => {
  const first = tempStore();
  const item = callItem("a");
  await first.calls.add(item, limit, null);
  await beginRun(first, requestFor(item));
  const next = reopened(first);
  const { requeue } = await next.recover();
  expect(requeue).toMatchObject([{ attempt: 2, trigger: { callId: "call-a" } }]);
  expect(await next.calls.read("ops-1", ["call-a"])).toMatchObject([{ state: "queued" }]);
  const open = { callId: "call-a", itemId: requeue[0]?.id, agent: "dev", instanceId: null };
  expect(next.calls.open()).toEqual([{ ...open, callerInstance: "ops-1", cancelOnExit: false }]);
});

test("a call that a waiting run takes ends at once, and that run is notified", async () => {
  const store = tempStore();
  const taken = { instanceId: "dev-1", key: "k", answer: { it: 1 }, waitedMs: 5 };
  const condition = { kind: "agent-call" } as const;
  await store.waits.add({ ...taken, agent: "dev", condition, since: 1, until: 9 });
  const waitingRun = { ...taken, agent: "dev", isWaiting: () => true };
  expect(await store.calls.add(callItem("a"), limit, waitingRun)).toBe("taken");
  expect(await store.calls.read("ops-1", ["call-a"])).toMatchObject([
    { state: "ended", outcome: "succeeded", reason: "taken by dev-1, which waited for it" },
  ]);
  expect(store.waits.answer("dev-1", "k")).toEqual({ it: 1 });
  expect(store.calls.open()).toEqual([]);
  const late = { ...waitingRun, key: "l", isWaiting: () => false };
  expect(await store.calls.add(callItem("b"), limit, late)).toBe("queued");
  expect(store.calls.open()).toMatchObject([{ callId: "call-b" }]);
});

async function run(store: Store, item: WorkItem, value?: unknown): Promise<void> {
  const instanceId = `${item.agent}-1`;
  await store.work.claim(requestFor(item, instanceId));
  if (value === undefined) return;
  await store.work.end(item, { instanceId, startedAt: 0, end: { ...succeeded, value } });
}

test("a store of an earlier format knows which session a run continues", () => {
  const dir = tempDir();
  const path = join(ensureStateDir(dir), "state.db");
  const format = formatWith(featureTables);
  const old = openDatabase(path, { ...format, steps: format.steps.slice(0, 2) });
  old.exec(`INSERT INTO triggers (id, at, kind, agent, instance_id, state, attempt, trigger)
    VALUES ('a', 0, 'manual', 'dev', 'dev-2', 'running', 1, '{"continues":{"instanceId":"dev-1"}}')`);
  old.close();
  expect(tempStore(dir).calls.ledTo("dev-2")).toEqual([{ agent: "dev", instance: null }]);
});

test("a call, and a delivery, whose run continues a session was led to by the runs of that, at any age", async () => {
  const store = tempStore();
  for (const [item, instanceId] of [
    [manualItem("m-1", "ops"), "ops-1"],
    [manualItem("m-2"), "dev-0"],
  ] as const) {
    await claimed(store, item, instanceId);
    await store.work.end(item, { instanceId, startedAt: 0, end: succeeded });
  }
  await claimed(store, callItem("c"), "dev-1");
  await claimed(store, webhookItem("w", "r"), "dev-2");
  store.tables((db) => {
    db.exec("UPDATE triggers SET continues = 'dev-0' WHERE instance_id IN ('dev-1', 'dev-2')");
    return {};
  });
  await store.prune({ now: Date.now(), days: 1, maxBytes: 1e12 });
  const [caller, session] = [
    { agent: "ops", instance: "ops-1" },
    { agent: "dev", instance: "dev-0" },
  ];
  expect(store.calls.ledTo("dev-1")).toEqual([caller, session]);
  expect(store.calls.ledTo("dev-2")).toEqual([session]);
});

/** A run by hand called dev, which called cat. Another run called dev as well. */
async function withTree(): Promise<Store> {
  const store = tempStore();
  const first = manualItem("first", "ops");
  const other = manualItem("other", "zoo");
  await store.work.enqueue([first, other]);
  await run(store, first);
  await run(store, other);
  const add = (item: WorkItem) => store.calls.add(item, 100, null);
  const call = callItem("a", { root: "first", context: "review <this>" });
  await add(call);
  await run(store, call, { text: "x".repeat(5_000) });
  await add(callItem("b", { root: "first", caller: "dev", callerInstance: "dev-1" }, "cat"));
  await add(callItem("c", { root: "other", caller: "zoo", callerInstance: "zoo-1" }));
  return store;
}

test("the tree of calls is the same from each entry in it, and contains nothing else", async () => {
  const store = await withTree();
  for (const id of ["first", "a", "b"]) {
    const ids = store.history.callTree(id)?.entries.map((entry) => entry.id);
    expect(ids).toEqual(["first", "a", "b"]);
  }
  expect(store.history.callTree("other")?.entries.map(({ id }) => id)).toEqual(["other", "c"]);
  expect(store.history.callTree("none")).toBeUndefined();
});

test("the tree of a call has its context and its whole return value", async () => {
  const store = await withTree();
  const call = store.history.callTree("a");
  expect(call).toMatchObject({ context: "review <this>", value: { text: "x".repeat(5_000) } });
  expect(store.history.callTree("first")).toMatchObject({ context: null, value: null });
});

test("each history entry contains the number of calls that its run made", async () => {
  const store = await withTree();
  // Who waited for a call is the instance of its entry, but the call made none.
  const taken = callItem("d", { root: "other", caller: "zoo", callerInstance: "zoo-1" }, "ops");
  const who = { agent: "ops", instanceId: "ops-1", key: "k" };
  const waiting = { ...who, answer: {}, waitedMs: 0, isWaiting: () => true };
  await store.calls.add(taken, 100, waiting);
  const calls = store.history.query(wholeHistory).triggers.map(({ id, calls: n }) => [id, n]);
  expect(Object.fromEntries(calls)).toEqual({ first: 1, other: 2, a: 1, b: 0, c: 0, d: 0 });
});
