import { expect, it } from "vitest";
import { runName } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { engineTest, launch } from "./support.ts";

it("has a thousand runs at once, and asks no more for each of them than it must", async () => {
  const { engine, cluster, pods } = await engineTest();
  const ids = Array.from({ length: 1_000 }, (_, index) => `dev-${index}`);
  await engine.ready();
  await Promise.all(ids.map((id) => engine.start(launch(id))));
  const running = async () =>
    (await engine.list()).filter(({ state }) => state === "running").length;
  await expect.poll(running, { timeout: 60_000 }).toBe(1_000);
  for (const pod of pods.all) pod.end({ exitCode: 0 });
  await Promise.all(ids.map((id) => engine.remove(runName(id))));
  await expect.poll(async () => (await engine.list()).length, { timeout: 60_000 }).toBe(0);
  const of = (what: string) => cluster.requests.filter((request) => request === what).length;
  expect([of("create jobs"), of("create secrets"), of("delete jobs")]).toEqual([1e3, 1e3, 1e3]);
  expect(of("list pods")).toBeLessThan(5);
}, 120_000);
