import { createRunClock } from "../../../src/runtime/harness/run-clock.ts";

test("a run's remaining time pauses while the run waits for a trigger, once for concurrent waits", async () => {
  let time = 5_000;
  const clock = createRunClock(60, () => time);
  time += 10_000;
  expect(clock.remainingMs()).toBe(50_000);
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  const waits = [clock.pausedFor(() => first.promise), clock.pausedFor(() => second.promise)];
  time += 1_000;
  expect(clock.remainingMs()).toBe(50_000);
  first.resolve("a");
  await waits[0];
  time += 2_000;
  second.reject(new Error("refused"));
  await expect(waits[1]).rejects.toThrow("refused");
  expect(clock.remainingMs()).toBe(50_000);
  time += 50_001;
  expect(clock.remainingMs()).toBe(-1);
});
