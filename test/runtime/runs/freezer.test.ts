import { createFreezer } from "../../../src/runtime/runs/freezer.ts";
import { pause } from "../../helpers/pause.ts";

function aFreezer() {
  const happened: string[] = [];
  const step = (name: string) => async () => {
    happened.push(name);
    await pause(5, "as long as an engine takes");
    happened.push(`${name}d`);
  };
  const steps = { freeze: step("pause"), thaw: step("unpause") };
  return { happened, freezer: createFreezer(steps, () => undefined) };
}

test("a freezer unfreezes a run only after freezing it, once for all callers", async () => {
  const { happened, freezer } = aFreezer();
  freezer.freeze();
  freezer.freeze();
  await Promise.all([freezer.thaw(), freezer.thaw()]);
  await freezer.thaw();
  expect(happened).toEqual(["pause", "paused", "unpause", "unpaused"]);
});

test("a freezer freezes a run again if it waits again while being unfrozen", async () => {
  const { happened, freezer } = aFreezer();
  freezer.freeze();
  const thawed = freezer.thaw();
  await expect.poll(() => happened, { interval: 1 }).toContain("unpause");
  freezer.freeze();
  await thawed;
  const both = ["pause", "paused", "unpause", "unpaused"];
  await expect.poll(() => happened).toEqual([...both, "pause", "paused"]);
});

test("a freezer does not unfreeze a run that is not frozen or has ended", async () => {
  const { happened, freezer } = aFreezer();
  await freezer.thaw();
  freezer.freeze();
  freezer.forget();
  await freezer.thaw();
  expect(happened).toEqual(["pause"]);
});

test("a freezer reports an unavailable engine, and retries to unfreeze until the engine is back", async () => {
  const problems: string[] = [];
  let isAway = true;
  const step = () => (isAway ? Promise.reject(new Error("the engine is away")) : Promise.resolve());
  const freezer = createFreezer({ freeze: step, thaw: step }, (line) => problems.push(line));
  freezer.freeze();
  const thawed = freezer.thaw();
  const problem = "a waiting run: the engine is away";
  await expect.poll(() => problems).toEqual([problem, problem]);
  isAway = false;
  await thawed;
});

test("a freezer stops retrying to unfreeze a run that has ended", async () => {
  const away = () => Promise.reject(new Error("the engine is away"));
  const freezer = createFreezer({ freeze: away, thaw: away }, () => undefined);
  freezer.freeze();
  const thawed = freezer.thaw();
  freezer.forget();
  await thawed;
});
