import type { RunVersion } from "../../../src/foundation/store/runs.ts";
import type { Store } from "../../../src/foundation/store/store.ts";
import type { RunEnd, WorkItem } from "../../../streams/vocabulary.ts";
import { callItem, cronItem, manualItem, requestFor, succeeded, tempStore } from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

const dayMs = 86_400_000;

function version(name: string): RunVersion {
  return { hash: name.repeat(32), content: { config: `${name}\n`, instructions: `do ${name}` } };
}

async function claimed(store: Store, item: WorkItem, id: string, of = version("a")): Promise<void> {
  if (item.trigger.kind === "manual") await store.work.enqueue([item]);
  await store.work.claim(requestFor(item, id), of);
}

async function ran(
  store: Store,
  item: WorkItem,
  id: string,
  of = version("a"),
  end: RunEnd = succeeded,
): Promise<void> {
  await claimed(store, item, id, of);
  await store.work.end(item, { instanceId: id, startedAt: item.at, at: item.at, end });
}

test("a run is found by its instance, with its content and value", async () => {
  const store = tempStore();
  const value = "x".repeat(5_000);
  await ran(store, manualItem("m"), "dev-1", version("a"), { ...succeeded, value });
  expect(store.runs.find("dev-1")).toMatchObject({
    entry: { id: "m", instanceId: "dev-1", outcome: "succeeded", version: "a".repeat(32) },
    value,
    trigger: { kind: "manual", prompt: "do m" },
    git: null,
  });
  expect(store.runs.content("a".repeat(32))).toEqual(version("a").content);
  expect(store.runs.find("dev-2")).toBeUndefined();
  expect(store.runs.content("b".repeat(32))).toBeUndefined();
});

test("a run gets its commit at its claim, or later", async () => {
  const store = tempStore();
  const git = { commit: "c".repeat(40), dirty: true };
  const [first, second] = [cronItem("1"), cronItem("2", "dev", 2_000)];
  await store.work.claim(requestFor(first, "dev-1"), version("a"), git);
  await store.work.claim(requestFor(second, "dev-2"), version("a"));
  expect(store.runs.find("dev-1")?.git).toEqual(git);
  expect(store.runs.find("dev-2")?.git).toBeNull();
  await store.work.recordGit(requestFor(second, "dev-2"), { ...git, dirty: false });
  expect(store.runs.find("dev-2")?.git).toEqual({ ...git, dirty: false });
});

test("a run is compared with the last successful one before it, whatever started it", async () => {
  const store = tempStore();
  const failed: RunEnd = { ...succeeded, outcome: "failed" };
  await ran(store, cronItem("1", "dev", 1), "dev-1");
  await ran(store, manualItem("2", "dev", 2), "dev-2");
  await ran(store, cronItem("3", "dev", 3), "dev-3", version("a"), failed);
  await ran(store, cronItem("4", "ops", 4), "ops-1");
  await claimed(store, manualItem("5", "dev", 5), "dev-5", version("b"));
  expect(store.runs.succeededBefore("dev-5")).toBe("dev-2");
  expect(store.runs.succeededBefore("dev-2")).toBe("dev-1");
  expect(store.runs.succeededBefore("dev-1")).toBeNull();
  expect(store.runs.succeededBefore("dev-none")).toBeNull();
});

test("a run's calls are found by the run that made them, not by one that took their work", async () => {
  const store = tempStore();
  await ran(store, cronItem("first", "ops"), "ops-1");
  const call = callItem("a", { callerInstance: "ops-1" });
  await store.calls.add(call, 100, null);
  const wait = { key: "k", answer: {}, waitedMs: 0, isWaiting: () => true };
  const waiting = { agent: "ops", instanceId: "ops-1", ...wait };
  await store.calls.add(callItem("b", { callerInstance: "zoo-1" }, "ops"), 100, waiting);
  expect(store.runs.find("ops-1")?.entry.id).toBe("first");
  expect(store.runs.callsOf("ops-1").map(({ id }) => id)).toEqual(["a"]);
});

test("the content of runs is deleted with the last run that names it", async () => {
  const store = tempStore(tempDir(), () => 100 * dayMs);
  const old = 80 * dayMs;
  await ran(store, cronItem("1", "dev", old), "dev-1", version("a"));
  await ran(store, cronItem("2", "dev", old + 1), "dev-2", version("b"));
  await ran(store, cronItem("3", "dev", 99 * dayMs), "dev-3", version("b"));
  await claimed(store, cronItem("4", "dev", old + 2), "dev-4", version("c"));
  await store.prune({ now: 100 * dayMs, days: 14, maxBytes: 1e12 });
  const stored = ["a", "b", "c"].filter((name) => store.runs.content(version(name).hash));
  expect(stored).toEqual(["b", "c"]);
});
