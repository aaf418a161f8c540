import { expect, test } from "vitest";
import { createFreezer } from "../../../src/start/abilities/freezer.ts";

function aFreezer(fails = false) {
  const happened: string[] = [];
  const problems: string[] = [];
  const step = (name: string) => async (instanceId: string) => {
    happened.push(`${name} ${instanceId}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (fails) throw new Error("the engine is away");
    happened.push(`${name}d`);
  };
  const edges = { freeze: step("pause"), thaw: step("unpause") };
  return { happened, problems, freezer: createFreezer(edges, (line) => problems.push(line)) };
}

test("a run is thawed only once it is frozen, and everybody who wants it thawed waits for that", async () => {
  const { happened, freezer } = aFreezer();
  freezer.freeze("a-1");
  freezer.freeze("a-1");
  await Promise.all([freezer.thaw("a-1"), freezer.thaw("a-1")]);
  expect(happened).toEqual(["pause a-1", "paused", "unpause a-1", "unpaused"]);
  await freezer.thaw("a-1");
  expect(happened).toHaveLength(4);
});

test("a run that is not frozen needs no thawing, and one that is over neither", async () => {
  const { happened, freezer } = aFreezer();
  await freezer.thaw("a-1");
  freezer.freeze("b-1");
  freezer.forget("b-1");
  await freezer.thaw("b-1");
  expect(happened).toEqual(["pause b-1"]);
});

test("an engine that can't is told of, and holds nobody up", async () => {
  const { problems, freezer } = aFreezer(true);
  freezer.freeze("a-1");
  await freezer.thaw("a-1");
  expect(problems).toEqual(
    ["the engine is away", "the engine is away"].map((why) => `a run that waits: ${why}`),
  );
});
