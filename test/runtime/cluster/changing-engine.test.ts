import { createChangingEngine } from "../../../src/runtime/cluster/changing-engine.ts";
import type { ClusterEngine } from "../../../src/runtime/cluster/cluster-engine.ts";

/** An engine that has these runs. */
function engineWith(...names: string[]) {
  const runs = new Set(names);
  const engine: ClusterEngine = {
    ready: () => Promise.resolve(),
    start: ({ name }) => Promise.resolve(void runs.add(name)),
    remove: (name) => Promise.resolve(void runs.delete(name)),
    list: () =>
      Promise.resolve(
        [...runs].map((name) => ({
          name,
          instanceId: name,
          state: "running" as const,
          node: null,
          problem: null,
          endings: 0,
        })),
      ),
  };
  return { engine, runs };
}

/** Has seen the runs of the first engine before the config names the second one. */
async function changed(...[before, after]: [ClusterEngine, ClusterEngine]) {
  let active = { key: "before", make: () => Promise.resolve(before) };
  const changing = createChangingEngine(() => active);
  await changing.list();
  active = { key: "after", make: () => Promise.resolve(after) };
  return changing;
}

test("runs of all engines are listed while one that the config no longer names is away", async () => {
  const [before, after] = [engineWith("al-old"), engineWith("al-new")];
  const changing = await changed(before.engine, after.engine);
  const away = () => Promise.reject(new Error("no answer"));
  before.engine.list = away;
  expect(await changing.list()).toMatchObject([
    { name: "al-old", instanceId: "al-old", state: "waiting", problem: "no answer" },
    { name: "al-new", state: "running", problem: null },
  ]);
  after.engine.list = away;
  await expect(changing.list()).rejects.toThrow("no answer");
});

test("a run is removed from its own engine after the config names another", async () => {
  const [before, after] = [engineWith("al-adopted"), engineWith()];
  const changing = await changed(before.engine, after.engine);
  await changing.ready();
  expect((await changing.list()).map(({ name }) => name)).toEqual(["al-adopted"]);
  await changing.remove("al-adopted");
  expect(before.runs.size).toBe(0);
});
