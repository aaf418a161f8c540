import { expect, test } from "vitest";
import type { Store } from "../../../src/foundation/store/store.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { callItem, manualItem, requestFor, succeeded, tempStore, wholeHistory } from "./support.ts";

async function run(store: Store, item: WorkItem, value?: unknown): Promise<void> {
  const instanceId = `${item.agent}-1`;
  await store.work.claim(requestFor(item, instanceId));
  if (value === undefined) return;
  await store.work.end(item, { instanceId, startedAt: 0, end: { ...succeeded, value } });
}

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

test("the tree of calls is the same from each entry in it, and holds nothing else", async () => {
  const store = await withTree();
  for (const id of ["first", "a", "b"]) {
    const ids = store.history.callTree(id)?.entries.map((entry) => entry.id);
    expect(ids).toEqual(["first", "a", "b"]);
  }
  expect(store.history.callTree("other")?.entries.map(({ id }) => id)).toEqual(["other", "c"]);
  expect(store.history.callTree("none")).toBeUndefined();
});

test("it has what a call was told and what it returned, in full", async () => {
  const store = await withTree();
  const call = store.history.callTree("a");
  expect(call).toMatchObject({ context: "review <this>", value: { text: "x".repeat(5_000) } });
  expect(store.history.callTree("first")).toMatchObject({ context: null, value: null });
});

test("each entry says how many calls its run made", async () => {
  const store = await withTree();
  // Who waited for a call is the instance of its entry, but the call made none.
  const taken = callItem("d", { root: "other", caller: "zoo", callerInstance: "zoo-1" }, "ops");
  const who = { agent: "ops", instanceId: "ops-1", key: "k" };
  const waiting = { ...who, answer: {}, waitedMs: 0, isWaiting: () => true };
  await store.calls.add(taken, 100, waiting);
  const calls = store.history.query(wholeHistory).triggers.map(({ id, calls: n }) => [id, n]);
  expect(Object.fromEntries(calls)).toEqual({ first: 1, other: 2, a: 1, b: 0, c: 0, d: 0 });
});
