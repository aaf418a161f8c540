import { setTimeout as wait } from "node:timers/promises";
import type { StatusSnapshot } from "../../../streams/status/wire.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf } from "../figure.ts";
import type { Measure } from "../figure.ts";
import { withBare } from "../floors.ts";
import { askHealth } from "../health.ts";
import { withScheduler } from "../with-scheduler.ts";

const runs = 10;
/** By then the scheduler has collected the garbage of its own start, in ms. */
const settledMs = 2_000;
const agents = Array.from({ length: runs }, (_, n) => agentName(n));

/**
 * How long `/health` takes while ten runs start at once, until the last is over; beside it a bare server that is asked
 * meanwhile, so that what the machine itself does to a process that only answers is known.
 */
export const starts: Measure = {
  name: "starts",
  run: ({ repeats, quick }) => {
    const rounds = quick ? 1 : 3 * repeats;
    const project = benchProject({
      ...{ count: runs, scale: runs, config: () => 'schedule = "0 3 1 1 *"' },
    });
    return withScheduler(project, (scheduler) =>
      withBare("floor-server.ts", [], async ({ said }) => {
        await wait(settledMs);
        const latencies: number[] = [];
        const floor: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const own = askHealth(scheduler.url, () => startAll(scheduler));
          const bare = await askHealth(`http://127.0.0.1:${said}`, () => own);
          latencies.push(...(await own));
          floor.push(...bare);
        }
        const target = { median: 5, most: 50 };
        return [figureOf("/health while 10 runs start", "ms", latencies, { floor, target })];
      }),
    );
  },
};

/** Starts all agents at once, and waits until none runs any more. */
async function startAll(scheduler: TestScheduler): Promise<void> {
  const start = (agent: string) => scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
  await Promise.all(agents.map(start));
  while ((await liveRuns(scheduler)) > 0) await wait(50);
}

async function liveRuns(scheduler: TestScheduler): Promise<number> {
  const answer = await scheduler.api("/control/status");
  return ((await answer.json()) as StatusSnapshot).scheduler.running;
}
