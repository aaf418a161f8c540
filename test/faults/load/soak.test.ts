import { expect, test } from "vitest";
import type { Sample } from "../../bench/soak/reading.ts";
import { runSoak } from "../../bench/soak/run-soak.ts";
import { growthOf, leaks } from "../../bench/soak/verdict.ts";

const megabyte = 1024 * 1024;
/** Wider than those of an hour (`npm run bench -- --only soak --minutes 60`): a minute has few samples. */
const limits = { heapBytes: 3 * megabyte, fds: 3, inotifyWatches: 0, resources: 3 };

test("a minute of webhooks, runs, edits and streams leaves nothing behind in the scheduler", async () => {
  const { samples, answers, edits } = await runSoak({ minutes: 0.75, sampleEvery: 6 });
  expect(leaks(samples, limits)).toEqual([]);
  expect(Object.keys(answers).sort()).toEqual(["200", "401"]);
  expect(answers[200]).toBeGreaterThan(500);
  expect(edits).toBeGreaterThan(20);
  const [late] = samples.map(({ delayMs }) => delayMs.p50).sort((a, b) => b - a);
  expect(late).toBeLessThan(50);
}, 180_000);

/** As the probe would read it in minute `n`. */
function sample(n: number, changes: Partial<Sample> = {}): Sample {
  return {
    ...{
      seconds: n * 60,
      heapBytes: 40 * megabyte,
      codeBytes: 0,
      externalBytes: megabyte,
      fds: 100,
    },
    ...{ residentBytes: 150 * megabyte, cpuMs: n * 1_000, inotifyWatches: 103, children: 0 },
    delayMs: { p50: 0.1, p99: 3, max: 10 },
    resources: { Timeout: 10 + (n % 2) },
    ...changes,
  };
}

const hour = (change: (n: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 45 }, (_, n) => sample(n, change(n)));

test("what comes and goes is no leak", () => {
  const breathing = hour((n) => ({ heapBytes: (40 + (n % 3)) * megabyte, fds: 100 + (n % 2) }));
  expect(leaks(breathing, limits)).toEqual([]);
});

test("a heap, files, watches, processes and timers that only grow are each told", () => {
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
