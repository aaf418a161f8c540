import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "../../helpers/pause.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { withBare } from "../floors.ts";
import { repeated } from "../repeated.ts";
import { changeOf, openSse, type Change, type SseClient } from "../sse-client.ts";
import { withScheduler } from "../with-scheduler.ts";

const agent = agentName(3);
const targets = new Map([
  [1, null],
  [200, { p99: 150 }],
  [1_000, { p99: 400 }],
]);

/** From a change of state until all clients know; beside it, a bare server that sends as many bytes to as many. */
export const status: Measure = {
  name: "status",
  run: ({ repeats }) =>
    withScheduler(projectOf(1_000), async (scheduler) => {
      const times = 10 * repeats;
      const figures: Figure[] = [];
      for (const clients of targets.keys()) {
        const all = await opened(scheduler, "/dashboard/api/status-stream", clients);
        const told = await repeated(times, (n) => tell(all, toggled(scheduler, n)));
        for (const client of all) client.close();
        const bytes = told.map((one) => one.bytes);
        const floor = await bareFanOut(clients, times, Math.max(...bytes));
        const ms = told.map((one) => one.ms);
        figures.push(
          figureOf(`status change → all of ${clients} clients`, "ms", ms, {
            floor,
            target: targets.get(clients) ?? null,
          }),
          figureOf(`bytes of a change for each of ${clients} clients`, "bytes", bytes, {
            target: { most: 1_023 },
          }),
        );
      }
      return figures;
    }),
};

/** With one source of webhooks: the scheduler's row, which is sent when the number of schedules changes, names all. */
async function projectOf(count: number): Promise<TestProject> {
  const project = await benchProject({ count });
  const path = join(project.dir, "config.toml");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.slice(0, text.indexOf("[webhooks.", text.indexOf("[webhooks.") + 1)));
  return project;
}

/** Disables and enables an agent. */
function toggled(scheduler: TestScheduler, n: number): Change {
  const enabled = n % 2 === 1;
  const path = `/control/agents/${agent}/${enabled ? "enable" : "disable"}`;
  const make = () => scheduler.api(path, { method: "POST" });
  return { words: [agent, `"enabled":${enabled}`], make };
}

/** How long a bare server takes until the last of so many clients has a change of so many bytes, each time. */
export function bareFanOut(clients: number, times: number, size: number): Promise<number[]> {
  return withBare("bare-stream.ts", [String(size)], async ({ said }) => {
    const server = { url: said, apiKey: "" };
    const all = await opened(server, "/stream", clients);
    const told = await repeated(times, (n) => tell(all, changeOf(server, n)));
    for (const client of all) client.close();
    return told.map(({ ms }) => ms);
  });
}

/** Cost of one change: until the last client had it, and the bytes sent to each. */
async function tell(all: readonly SseClient[], { words, make }: Change) {
  const seen = all.map((client) => client.waitFor(...words));
  const before = all[0]?.bytes() ?? 0;
  const began = performance.now();
  await make();
  const events = await Promise.all(seen);
  await pause(150, "what comes after it is part of it, and the next one is gathered with nothing");
  const bytes = (all[0]?.bytes() ?? 0) - before;
  return { ms: Math.max(...events.map(({ at }) => at)) - began, bytes };
}

/** A hundred at a time: a listening socket has room for some hundreds that nobody has accepted yet. */
async function opened(
  server: Pick<TestScheduler, "url" | "apiKey">,
  path: string,
  count: number,
): Promise<readonly SseClient[]> {
  const clients: SseClient[] = [];
  while (clients.length < count) {
    const some = Array.from({ length: Math.min(100, count - clients.length) });
    clients.push(...(await Promise.all(some.map(() => openSse(server, path)))));
  }
  await pause(1_000, "the snapshots are on their way still");
  return clients;
}
