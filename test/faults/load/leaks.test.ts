import type { HistoryPage } from "../../../src/foundation/contracts/history.ts";
import { startCounted, type Counted, type Counts } from "../../costs/counted.ts";
import { LiveProject } from "../../helpers/live-project.ts";

/** Runs the agent so many times, one after the other; what the scheduler then holds. */
async function after(runs: number, agent: string, scheduler: Counted) {
  const ended = async (id: string): Promise<string | null> => {
    const page = (await (
      await scheduler.api(`/api/stats/triggers?id=${id}`)
    ).json()) as HistoryPage;
    return page.triggers[0]?.outcome ?? null;
  };
  for (let n = 0; n < runs; n += 1) {
    const response = await scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
    const { triggerId } = (await response.json()) as { triggerId: string };
    await expect.poll(() => ended(triggerId), { timeout: 60_000 }).toBe("succeeded");
  }
  return scheduler.counts();
}

async function leavesNothing(project: LiveProject, agent: string, runs: number): Promise<void> {
  const scheduler = await startCounted(project, true);
  onTestFinished(() => scheduler.kill());
  // The first runs fill caches that all runs share.
  const before = await after(Math.ceil(runs / 4), agent, scheduler);
  const now = await after(runs, agent, scheduler);
  // A subscription is five objects or more; caches move by a hundred.
  expect(now.objects - before.objects).toBeLessThan(200 + runs);
  const resources = async () => lasting((await scheduler.counts()).resources);
  await expect.poll(resources).toEqual(lasting(before.resources));
}

/** Without requests to the file system and the network that are under way. */
function lasting(resources: Counts["resources"]): Counts["resources"] {
  return Object.fromEntries(Object.entries(resources).filter(([kind]) => !kind.includes("Req")));
}

test(
  "runs in the built-in harness, pi, leave no object, timer or socket in the scheduler",
  { timeout: 600_000 },
  async () => leavesNothing(await LiveProject.hello(), "hello", 50),
);
