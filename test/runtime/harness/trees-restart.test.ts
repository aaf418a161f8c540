import { readdir } from "node:fs/promises";
import { pause } from "../../helpers/pause.ts";
import { never } from "../run-api/support.ts";
import { aFile, aTree, treeTest } from "./tree-side.ts";

const { side, inRun, treesOf, write, pack, stored } = treeTest();

describe("a scheduler that restarts", () => {
  test("in the middle of an upload receives it again from its beginning", async () => {
    await write("out/a", "1");
    await write("out/b", "2");
    let isFirst = true;
    side().trees.onEntry = async () => {
      if (!isFirst) return;
      isFirst = false;
      void side()
        .stop()
        .then(() => side().start());
      await new Promise(setImmediate);
    };
    expect(await pack()).toEqual([]);
    expect(stored()).toEqual({ a: aFile("1"), b: aFile("2") });
    expect(side().trees.uploads).toBe(2);
  });

  test("more often than a live one may break off an upload receives it in the end", async () => {
    await write("out/a", "1");
    let restarts = 0;
    side().trees.onEntry = async () => {
      if (restarts === 5) return;
      restarts += 1;
      const gone = side().stop();
      void gone
        .then(() => pause(1_400, "the run finds it away at least once"))
        .then(() => side().start());
      await gone;
    };
    expect(await pack()).toEqual([]);
    expect([restarts, stored()]).toEqual([5, { a: aFile("1") }]);
  }, 60_000);

  test("before a download sends it afterwards", async () => {
    side().trees.trees.set("memory", { a: aFile("x") });
    await side().stop();
    const trees = treesOf(aTree("memory", { get: true }));
    const unpacking = trees.unpack(never);
    await side().start();
    await unpacking;
    expect(await readdir(inRun("memory"))).toEqual(["a"]);
  });
});

test("a run that is out of time sends no more, and logs that", async () => {
  await write("out/a", "x");
  const late = new AbortController();
  side().trees.onEntry = () => late.abort();
  expect(await pack(aTree("out"), late.signal)).toEqual([
    "out is not kept: there was no time left",
  ]);
  expect(stored()).toBeUndefined();
});
