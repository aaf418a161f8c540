import type { HistoryEntry } from "../../../src/foundation/contracts/history.ts";
import { startCounted, type Counts } from "../../costs/counted.ts";
import { LiveProject, slowly } from "../../helpers/live-project.ts";

/** Without requests to the file system and the network that are under way. */
const lasting = (resources: Counts["resources"]) =>
  Object.fromEntries(Object.entries(resources).filter(([kind]) => !kind.includes("Req")));

test("runs in the built-in harness, pi, leave no object, timer or socket in the scheduler", async () => {
  const scheduler = await startCounted(await LiveProject.hello(), true);
  onTestFinished(() => scheduler.kill());
  const json = async (path: string, init?: RequestInit) =>
    (await scheduler.api(path, init)).json() as Promise<{
      triggerId: string;
      triggers: readonly HistoryEntry[];
    }>;
  /** Runs the agent so many times, one after the other; what the scheduler then holds. */
  const after = async (runs: number) => {
    for (let n = 0; n < runs; n += 1) {
      const { triggerId } = await json("/control/trigger/hello", { method: "POST" });
      const ended = async () =>
        (await json(`/api/stats/triggers?id=${triggerId}`)).triggers[0]?.outcome;
      await expect.poll(ended, slowly).toBe("succeeded");
    }
    return scheduler.counts();
  };
  // The first runs fill caches that all runs share.
  const before = await after(13);
  const now = await after(50);
  // A subscription is five objects or more; caches move by a hundred.
  expect(now.objects - before.objects).toBeLessThan(250);
  const resources = async () => lasting((await scheduler.counts()).resources);
  await expect.poll(resources).toEqual(lasting(before.resources));
}, 600_000);
