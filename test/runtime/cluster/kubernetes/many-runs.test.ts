import { expect, it } from "vitest";
import { runName } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { isLong } from "../../../helpers/long.ts";
import { engineTest, launch } from "./support.ts";

/** Runs at once. */
const most = isLong ? 1_000 : 200;

it("the engine has hundreds of runs at once, with few requests for each", async () => {
  const { engine, cluster, pods } = await engineTest();
  const ids = Array.from({ length: most }, (_, index) => `dev-${index}`);
  await engine.ready();
  await Promise.all(ids.map((id) => engine.start(launch(id))));
  const running = async () =>
    (await engine.list()).filter(({ state }) => state === "running").length;
  await expect.poll(running, { timeout: 60_000 }).toBe(most);
  for (const pod of pods.all) pod.end({ exitCode: 0 });
  await Promise.all(ids.map((id) => engine.remove(runName(id))));
  await expect.poll(async () => (await engine.list()).length, { timeout: 60_000 }).toBe(0);
  const of = (what: string) => cluster.requests.filter((request) => request === what).length;
  expect([of("create jobs"), of("create secrets"), of("delete jobs")]).toEqual([most, most, most]);
}, 120_000);
