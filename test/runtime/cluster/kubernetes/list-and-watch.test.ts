import { expect, it } from "vitest";
import { runName } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { engineTest, launch, runOnce } from "./support.ts";

const ids = ["one", "two", "three"];

it("lists once, and follows changes by watches", async () => {
  const { engine, cluster, pods } = await engineTest();
  for (const id of ids) await engine.start(launch(id));
  await runOnce(engine, () => pods.all.length === 3);
  for (let asked = 0; asked < 20; asked += 1) await engine.list();
  expect(count(cluster.requests, "list pods")).toBe(1);
  expect(count(cluster.requests, "watch pods")).toBe(1);
});

it("resumes a watch that the server ended from its last version", async () => {
  const { engine, cluster, pods } = await engineTest();
  await engine.start(launch("one"));
  await runOnce(engine, (run) => run?.state === "running");
  await pause(1_100);
  cluster.endWatches();
  await expect.poll(() => count(cluster.requests, "watch pods")).toBe(2);
  pods.all[0]?.end({ exitCode: 0 });
  await runOnce(engine, (run) => run?.state === "ended");
  expect(count(cluster.requests, "list pods")).toBe(1);
});

it("lists again when changes are forgotten by the server, and misses none of them", async () => {
  const { engine, cluster, pods } = await engineTest();
  await engine.start(launch("one"));
  await runOnce(engine, (run) => run?.state === "running");
  await pause(1_100);
  cluster.away(true);
  pods.all[0]?.end({ exitCode: 0 });
  await pause(50);
  cluster.store.compact();
  cluster.away(false);
  await runOnce(engine, (run) => run?.state === "ended");
  expect(count(cluster.requests, "list pods")).toBeGreaterThan(1);
});

it("is told 410 within a watch after a pause without changes of its own, and lists again", async () => {
  const { engine, cluster } = await engineTest();
  await engine.start(launch("one"));
  await runOnce(engine, (run) => run?.state === "running");
  await pause(1_100);
  cluster.store.compact();
  cluster.endWatches();
  await expect.poll(() => count(cluster.requests, "watch pods")).toBe(2);
  await runOnce(engine, (run) => run?.state === "running");
  expect(count(cluster.requests, "list pods")).toBe(2);
});

it("keeps its version young by bookmarks, so that it need not list again", async () => {
  const { engine, cluster } = await engineTest({ bookmarkMs: 50 });
  await engine.start(launch("one"));
  await runOnce(engine, (run) => run?.state === "running");
  await pause(1_100);
  cluster.store.compact();
  await pause(200);
  cluster.endWatches();
  await expect.poll(() => count(cluster.requests, "watch pods")).toBe(2);
  await pause(100);
  await runOnce(engine, (run) => run?.state === "running");
  expect(count(cluster.requests, "list pods")).toBe(1);
});

it("asks nothing of the server while it asks nothing of the engine", async () => {
  const { engine, cluster } = await engineTest();
  await engine.start(launch("one"));
  await runOnce(engine, (run) => run?.state === "running");
  await expect.poll(() => cluster.watchCount()).toBe(2);
  engine.close();
  await expect.poll(() => cluster.watchCount()).toBe(0);
  const before = cluster.requests.length;
  await pause(300);
  expect(cluster.requests).toHaveLength(before);
  expect(await engine.list()).toHaveLength(1);
});

it("shows a run that it has just started, even before its event came", async () => {
  const { engine } = await engineTest();
  await engine.list();
  for (const id of ids) {
    await engine.start(launch(id));
    expect((await engine.list()).map(({ name }) => name)).toContain(runName(id));
  }
});

function count(requests: readonly string[], what: string): number {
  return requests.filter((request) => request === what).length;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
