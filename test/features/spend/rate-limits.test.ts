import { createRateLimits } from "../../../src/features/spend/rate-limits.ts";

test("runs share a model's rate in turn: 200 calls of one run do not delay another run's call", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const limits = createRateLimits();
  const signal = new AbortController().signal;
  const begun: string[] = [];
  const turn = async (instanceId: string, onWait?: (ms: number) => void) => {
    const tooLate = await limits.turn({ model: "one", perMinute: 10, instanceId }, signal, onWait);
    if (tooLate === null) begun.push(instanceId);
    return tooLate;
  };
  const hostile = Array.from({ length: 200 }, () => turn("run-1"));
  const waits: number[] = [];
  const other = turn("run-2", (ms) => waits.push(ms));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toHaveLength(10);
  expect(waits).toEqual([60_000]);
  await vi.advanceTimersByTimeAsync(59_100);
  expect(await other).toBeNull();
  expect(begun.indexOf("run-2")).toBeLessThan(12);
  expect((await Promise.all(hostile.slice(100)))[0]).toBeGreaterThan(0);
});
