import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { benchProject } from "../bench-project.ts";
import { figureOf, type BenchOptions, type Figure, type Measure } from "../figure.ts";
import { withBare, withFolder } from "../floors.ts";
import { repeated } from "../repeated.ts";
import { residentMb, withScheduler } from "../with-scheduler.ts";

const sizes = [
  { count: 1, readyMs: 280, mb: 90 },
  { count: 100, readyMs: 400, mb: 100 },
  { count: 1_000, readyMs: 900, mb: 150 },
  { count: 5_000, readyMs: 4_000, mb: 350 },
];

interface Started {
  readonly readyMs: number;
  readonly mb: number;
}

/** From the start of the process until it says that it is ready, and its memory when it has come to rest. */
export const startUp: Measure = {
  name: "start-up",
  run: async (options) => {
    const figures: Figure[] = [];
    for (const size of options.quick ? sizes.slice(0, 2) : sizes) {
      figures.push(...(await measured(size, options)));
    }
    return figures;
  },
};

async function measured(
  { count, readyMs, mb }: (typeof sizes)[number],
  { repeats }: BenchOptions,
): Promise<readonly Figure[]> {
  const runs = await repeated(repeats, async () => [await bare(), await scheduler(count)] as const);
  const of = (read: (one: Started) => number, at: 0 | 1): number[] =>
    runs.map((pair) => read(pair[at]));
  const ready = (one: Started): number => one.readyMs;
  const memory = (one: Started): number => one.mb;
  return [
    figureOf(`ready with ${count} agents`, "ms", of(ready, 1), {
      floor: of(ready, 0),
      target: { median: readyMs },
    }),
    figureOf(`memory with ${count} agents`, "MB", of(memory, 1), {
      floor: of(memory, 0),
      target: { median: mb },
    }),
  ];
}

function scheduler(count: number): Promise<Started> {
  const project = benchProject({ count, config: (n) => `schedule = "${n % 60} 3 * * *"` });
  return withScheduler(project, ({ pid }, readyMs) => atRest(pid, readyMs));
}

/** A process that only listens and opens a database. */
function bare(): Promise<Started> {
  return withFolder((dir) => {
    const began = performance.now();
    return withBare("bare-start.ts", [join(dir, "floor.db")], ({ pid }) =>
      atRest(pid, performance.now() - began),
    );
  });
}

async function atRest(pid: number, readyMs: number): Promise<Started> {
  await wait(2_000);
  return { readyMs, mb: await residentMb(pid) };
}
