import { setTimeout as wait } from "node:timers/promises";
import { withStrangers } from "../../faults/doors/http/with-strangers.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { askHealth } from "../health.ts";
import { residentMb, withScheduler } from "../with-scheduler.ts";

/** How long others wait, and how much memory is held, while clients without a key attack by many connections. */
export const strangers: Measure = {
  name: "strangers",
  run: ({ repeats, quick }) => {
    const [connections, seconds] = quick ? [50, 2] : [1_000, 10 * repeats];
    const project = benchProject({ count: 1, config: () => 'schedule = "0 3 1 1 *"' });
    return withScheduler(project, (scheduler) => measured(scheduler, connections, seconds));
  },
};

async function measured(
  scheduler: TestScheduler,
  connections: number,
  seconds: number,
): Promise<readonly Figure[]> {
  const floor = await askHealth(scheduler.url, () => wait(2_000));
  const memory: number[] = [];
  const watchMemory = async (): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      await wait(1_000);
      memory.push(await residentMb(scheduler.pid));
    }
  };
  const { result } = await withStrangers(new URL(scheduler.url).port, connections, () =>
    askHealth(scheduler.url, watchMemory),
  );
  const name = `${connections} attacking connections`;
  return [
    figureOf(`${name}: GET /health`, "ms", result, { floor, target: { p99: 250 } }),
    figureOf(`${name}: memory`, "MB", memory, { target: { most: 400 } }),
  ];
}
