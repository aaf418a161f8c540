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

/** The scheduler's processor time for deliveries with traces, in parts of that without; in turns, with the export. */
export const telemetry: Measure = {
  name: "telemetry",
  run: async ({ repeats, quick }) => {
    const collector = createServer((request, response) => {
      request.resume().on("end", () => response.end());
    }).listen(0, "127.0.0.1");
    await once(collector, "listening");
    const { port } = collector.address() as AddressInfo;
    const count = quick ? 200 : 5_000;
    const pairs = await withScheduler(projectOf(null), (without) =>
      withScheduler(projectOf(port), (traced) =>
        repeated(repeats + 1, async (n) => {
          const turns = n % 2 === 0 ? [traced, without] : [without, traced];
          const used = new Map<TestScheduler, number>();
          for (const one of turns) used.set(one, await cpuMs(one, count));
          return (used.get(traced) ?? 0) / (used.get(without) ?? 0);
        }),
      ),
    );
    collector.close();
    // The first pair warms both up.
    const name = "processor time of deliveries with [telemetry], in parts of that without";
    return [figureOf(name, "", pairs.slice(1), { target: { median: 1.05 } })];
  },
};

async function projectOf(collectorPort: number | null) {
  const project = await benchProject({ count: agents, config });
  if (collectorPort === null) return project;
  const table = `\n[telemetry]\notlp = "http://127.0.0.1:${collectorPort}"\n`;
  await appendFile(join(project.dir, "config.toml"), table);
  return project;
}

/** What the deliveries, and their spans, take of the scheduler's processor time. */
async function cpuMs({ url, pid }: TestScheduler, count: number): Promise<number> {
  const deliveries = githubDeliveries({ count, repo: (n) => `acme/${agentName(n % agents)}` });
  const before = await usedMs(pid);
  await sendAll(url.replace("localhost", "127.0.0.1"), deliveries, 50);
  // Spans wait for 2 s.
  await wait(2_500);
  return (await usedMs(pid)) - before;
}

/** User and system time of a process so far; Linux counts it in hundredths of a second. */
async function usedMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
  return (Number(user) + Number(system)) * 10;
}
