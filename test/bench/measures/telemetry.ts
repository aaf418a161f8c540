import { once } from "node:events";
import { appendFile, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { githubDeliveries } from "../deliveries.ts";
import { figureOf, type Measure } from "../figure.ts";
import { sendAll } from "../load.ts";
import { repeated } from "../repeated.ts";
import { withScheduler } from "../with-scheduler.ts";

const agents = 100;
/** The one run sleeps, and the full queue drops one delivery for each new one: each ends a span. */
const config = (n: number): string => `workQueueSize = 1
hooks.pre = ["sleep 3600"]
[[webhooks]]
source = "github"
repos = ["acme/${agentName(n)}"]
`;

/**
 * The scheduler's processor time for deliveries with traces, in parts of that without. Both get the same load at the same
 * time: what one uses alone changes by a fifth with what ran before.
 */
export const telemetry: Measure = {
  name: "telemetry",
  run: async ({ repeats, quick }) => {
    const collector = createServer((request, response) => {
      request.resume().on("end", () => response.end());
    }).listen(0, "127.0.0.1");
    await once(collector, "listening");
    const { port } = collector.address() as AddressInfo;
    const count = quick ? 200 : 5_000;
    const ratios = await withScheduler(projectOf(null), (without) =>
      withScheduler(projectOf(port), (traced) =>
        repeated(repeats + 1, async (n) => {
          // The first to be loaded uses less.
          const [used, other] = await usedMs(
            n % 2 === 0 ? [traced, without] : [without, traced],
            count,
          );
          return n % 2 === 0 ? used / other : other / used;
        }),
      ),
    );
    collector.close();
    // The first load warms both up.
    const name = "processor time of deliveries with [telemetry], in parts of that without";
    return [figureOf(name, "", ratios.slice(1), { target: { median: 1.05 } })];
  },
};

async function projectOf(collectorPort: number | null) {
  const project = await benchProject({ count: agents, config });
  if (collectorPort === null) return project;
  const table = `\n[telemetry]\notlp = "http://127.0.0.1:${collectorPort}"\n`;
  await appendFile(join(project.dir, "config.toml"), table);
  return project;
}

/** Processor time of each scheduler for deliveries to both, and their spans. */
async function usedMs(
  both: readonly [TestScheduler, TestScheduler],
  count: number,
): Promise<[number, number]> {
  const [one, other] = both;
  const before = await Promise.all([soFarMs(one.pid), soFarMs(other.pid)]);
  const loads = both.map(({ url }) => {
    const deliveries = githubDeliveries({ count, repo: (n) => `acme/${agentName(n % agents)}` });
    return { url: url.replace("localhost", "127.0.0.1"), deliveries };
  });
  await Promise.all(loads.map(({ url, deliveries }) => sendAll(url, deliveries, 25)));
  // Spans wait for 2 s.
  await wait(2_500);
  return [(await soFarMs(one.pid)) - before[0], (await soFarMs(other.pid)) - before[1]];
}

/** User and system time of a process so far; Linux counts it in hundredths of a second. */
async function soFarMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
  return (Number(user) + Number(system)) * 10;
}
