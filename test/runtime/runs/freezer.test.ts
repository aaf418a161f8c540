import { expect, test } from "vitest";
import { createFreezer } from "../../../src/runtime/runs/freezer.ts";

function aFreezer(fails = false) {
  const happened: string[] = [];
  const problems: string[] = [];
  const step = (name: string) => async () => {
    happened.push(name);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (fails) throw new Error("the engine is away");
    happened.push(`${name}d`);
  };
  const steps = { freeze: step("pause"), thaw: step("unpause") };
  return { happened, problems, freezer: createFreezer(steps, (line) => problems.push(line)) };
}

test("a run is thawed only once it is frozen, and all callers wait for that", async () => {
  const { happened, freezer } = aFreezer();
  freezer.freeze();
  freezer.freeze();
  await Promise.all([freezer.thaw(), freezer.thaw()]);
  expect(happened).toEqual(["pause", "paused", "unpause", "unpaused"]);
  await freezer.thaw();
  expect(happened).toHaveLength(4);
});

test("a run that is not frozen needs no thawing, and neither does an ended one", async () => {
  const { happened, freezer } = aFreezer();
  await freezer.thaw();
  freezer.freeze();
  freezer.forget();
  await freezer.thaw();
  expect(happened).toEqual(["pause"]);
});

test("an engine that can't freeze is reported, and delays no run", async () => {
  const { problems, freezer } = aFreezer(true);
  freezer.freeze();
  await freezer.thaw();
  expect(problems).toEqual(
    ["the engine is away", "the engine is away"].map((why) => `a run that waits: ${why}`),
  );
});
