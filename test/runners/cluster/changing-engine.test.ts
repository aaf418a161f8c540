import { expect, test } from "vitest";
import { createChangingEngine } from "../../../src/runners/cluster/changing-engine.ts";
import type { ClosableEngine } from "../../../src/runners/cluster/changing-engine.ts";

/** An engine that has these runs. */
function engineWith(...names: string[]) {
  const runs = new Set(names);
  const engine: ClosableEngine = {
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

test("a run of an earlier scheduler is removed from its own engine after the config names another", async () => {
  const [before, after] = [engineWith("al-adopted"), engineWith()];
  const engines = { before, after };
  let key: keyof typeof engines = "before";
  const changing = createChangingEngine(() => {
    const { engine } = engines[key];
    return { key, make: () => Promise.resolve(engine) };
  });
  await changing.list();
  key = "after";
  await changing.ready();
  expect((await changing.list()).map(({ name }) => name)).toEqual(["al-adopted"]);
  await changing.remove("al-adopted");
  expect(before.runs.size).toBe(0);
});
