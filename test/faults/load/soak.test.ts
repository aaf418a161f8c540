import { runSoak } from "../../bench/soak/run-soak.ts";
import { isLong } from "../../helpers/long.ts";
import { leaks } from "../../bench/soak/verdict.ts";

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
