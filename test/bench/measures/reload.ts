import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "../../helpers/pause.ts";
import { agentConfig } from "../../features/webhooks/webhook-project.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf, type Measure } from "../figure.ts";
import { bareChanges } from "../bare-changes.ts";
import { repeated } from "../repeated.ts";
import { openSse } from "../sse-client.ts";
import { withScheduler } from "../with-scheduler.ts";

const agent = agentName(7);
const configWith = (n: number): string => agentConfig(`schedule = "0 ${4 + (n % 20)} 2 1 *"`);

/** From the save of an agent's config until it is in force and a client knows; beside it, until a bare watch tells. */
export const reload: Measure = {
  name: "reload",
  run: ({ repeats }) => {
    const count = 1_000;
    const times = 10 * repeats;
    return withScheduler(benchProject({ count }), async (scheduler) => {
      const floor = await bareChanges(times, (path, n) => writeFile(path, configWith(n)));
      const client = await openSse(scheduler, "/dashboard/api/status-stream");
      const path = join(scheduler.project.dir, "agents", agent, "config.toml");
      const delays = await repeated(times, async (n) => {
        const seen = client.waitFor(`"name":"${agent}"`);
        const began = performance.now();
        await writeFile(path, configWith(n));
        const { at } = await seen;
        await pause(150, "the next change is one of its own");
        return at - began;
      });
      client.close();
      const target = { median: 150, p99: 400 };
      return [figureOf(`save → in force, ${count} agents`, "ms", delays, { floor, target })];
    });
  },
};
