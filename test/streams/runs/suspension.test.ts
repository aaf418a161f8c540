import { createSlots } from "../../../streams/runs/slots.ts";
import { createSuspension } from "../../../streams/runs/suspension.ts";

function aRun(slots = createSlots(1)) {
  let time = 1_000;
  const run = createSuspension({ slot: slots.tryTake(), waitedMs: 100 }, () => time);
  const seen: boolean[] = [];
  run.paused$.subscribe((paused) => seen.push(paused));
  return { slots, run, seen, pass: (ms: number) => (time += ms) };
}

test("a suspended run releases its slot until it resumes, with its timeout paused", () => {
  const { slots, run, seen, pass } = aRun();
  const resume = run.suspend(true);
  pass(30);
  expect(run.waitedMs()).toBe(130);
  const other = slots.tryTake();
  expect(other).not.toBeNull();
  let back = false;
  resume(() => (back = true));
  pass(5);
  expect(back).toBe(false);
  other?.[Symbol.dispose]();
  expect(back).toBe(true);
  pass(50);
  expect(run.waitedMs()).toBe(135);
  expect(seen).toEqual([false, true, false]);
});

test("a run suspended with its timeout running releases its slot", () => {
  const { slots, run, seen } = aRun();
  run.suspend(false);
  expect(slots.tryTake()).not.toBeNull();
  expect(seen).toEqual([false]);
});

test("a suspended run counts the duration of concurrent waits once", () => {
  const { run, seen, pass } = aRun();
  const [one, two] = [run.suspend(true), run.suspend(true)];
  pass(10);
  one(() => undefined);
  pass(10);
  two(() => undefined);
  expect(run.waitedMs()).toBe(120);
  expect(seen).toEqual([false, true, false]);
});
