import type { Sample } from "../../bench/soak/reading.ts";
import { runSoak } from "../../bench/soak/run-soak.ts";
import { isLong } from "../../helpers/long.ts";
import { growthOf, leaks } from "../../bench/soak/verdict.ts";

const megabyte = 1024 * 1024;
/** Wider than those of an hour (`npm run bench -- --only soak --minutes 60`): a minute has few samples. */
const limits = { heapBytes: 3 * megabyte, fds: 3, inotifyWatches: 0, resources: 3 };

test.runIf(isLong)(
  "webhooks, runs, edits and streams leave no memory, files or processes behind",
  async () => {
    const length = { minutes: 5, sampleEvery: 6 };
    const { samples, answers, edits } = await runSoak(length);
    expect(leaks(samples, limits)).toEqual([]);
    expect(Object.keys(answers).sort()).toEqual(["200", "401"]);
    expect(answers[200]).toBeGreaterThan(length.minutes * 500);
    expect(edits).toBeGreaterThan(length.minutes * 20);
    const [late] = samples.map(({ delayMs }) => delayMs.p50).sort((a, b) => b - a);
    expect(late).toBeLessThan(50);
  },
  600_000,
);

/** As the probe would read it in minute `n`. */
function sample(n: number, changes: Partial<Sample> = {}): Sample {
  return {
    seconds: n * 60,
    heapBytes: 40 * megabyte,
    codeBytes: 0,
    externalBytes: megabyte,
    fds: 100,
    residentBytes: 150 * megabyte,
    cpuMs: n * 1_000,
    inotifyWatches: 103,
    children: 0,
    delayMs: { p50: 0.1, p99: 3, max: 10 },
    resources: { Timeout: 10 + (n % 2) },
    ...changes,
  };
}

const hour = (change: (n: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 45 }, (_, n) => sample(n, change(n)));

test("the soak test does not report growth that recedes as a leak", () => {
  const breathing = hour((n) => ({ heapBytes: (40 + (n % 3)) * megabyte, fds: 100 + (n % 2) }));
  expect(leaks(breathing, limits)).toEqual([]);
});

test("the soak test reports each of heap, files, watches, processes and timers that only grows", () => {
  const growing = hour((n) => ({
    heapBytes: (40 + n / 5) * megabyte,
    fds: 100 + n,
    inotifyWatches: 103 + Math.floor(n / 10),
    children: Math.floor(n / 10),
    resources: { Timeout: 10 + n },
  }));
  expect(growthOf(growing).fds).toBe(30);
  expect(leaks(growing, limits)).toEqual([
    "the heap grew by 6.00 MB",
    "30 more files are open",
    "3 more files are watched",
    "3 more processes are left",
    "30 more of Timeout",
  ]);
});
