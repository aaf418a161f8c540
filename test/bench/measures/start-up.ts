import { setTimeout as wait } from "node:timers/promises";
import { benchProject } from "../bench-project.ts";
import { figureOf } from "../figure.ts";
import type { BenchOptions, Figure, Measure } from "../figure.ts";
import { residentMb, withScheduler } from "../with-scheduler.ts";

const targets = [
  { count: 1, ready: "600 ms", memory: "90 MB" },
  { count: 100, ready: "700 ms", memory: "100 MB" },
  { count: 1_000, ready: "1200 ms", memory: "150 MB" },
  { count: 5_000, ready: "4000 ms", memory: "350 MB" },
];

/** From the start of the process until it says that it is ready, and its memory when it has come to rest. */
export const startUp: Measure = {
  name: "start-up",
  run: async ({ repeats, quick }: BenchOptions) => {
    const figures: Figure[] = [];
    for (const { count, ready, memory } of quick ? targets.slice(0, 2) : targets) {
      const runs: { readyMs: number; mb: number }[] = [];
      for (let repeat = 0; repeat < repeats; repeat++) runs.push(await once(count));
      figures.push(
        figureOf(
          `ready with ${count} agents`,
          "ms",
          runs.map(({ readyMs }) => readyMs),
          { target: ready },
        ),
        figureOf(
          `memory with ${count} agents`,
          "MB",
          runs.map(({ mb }) => mb),
          { target: memory },
        ),
      );
    }
    return figures;
  },
};

function once(count: number): Promise<{ readyMs: number; mb: number }> {
  const project = benchProject({ count, config: (n) => `schedule = "${n % 60} 3 * * *"` });
  return withScheduler(project, async ({ pid }, readyMs) => {
    await wait(2_000);
    return { readyMs, mb: await residentMb(pid) };
  });
}
