import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf, type BenchOptions, type Figure, type Measure } from "../figure.ts";
import { withBare } from "../floors.ts";
import { repeated } from "../repeated.ts";
import { openSse, type SseClient } from "../sse-client.ts";
import type { Target } from "../target.ts";
import { withScheduler } from "../with-scheduler.ts";

const agent = agentName(3);
const sizes: readonly { readonly clients: number; readonly target: Target | null }[] = [
  { clients: 1, target: null },
  { clients: 200, target: { p99: 150 } },
  { clients: 1_000, target: { p99: 400 } },
];

/** Cost of one change: until the last client had it, and the bytes sent to each. */
interface Told {
  readonly ms: number;
  readonly bytes: number;
}

/** From a change of state until all clients know; beside it, a bare server that sends as many bytes to as many. */
export const status: Measure = {
  name: "status",
  run: (options) => {
    const agents = options.quick ? 20 : 1_000;
    const project = projectOf(agents);
    return withScheduler(project, async (scheduler) => {
      const figures: Figure[] = [];
      for (const size of options.quick ? [{ clients: 10, target: null }] : sizes) {
        figures.push(...(await fanOut(scheduler, size, options)));
      }
      return figures;
    });
  },
};

/** With one source of webhooks: the scheduler's row, which is sent when the number of schedules changes, names all. */
async function projectOf(count: number): Promise<TestProject> {
  const project = await benchProject({ count, config: () => 'schedule = "0 3 1 1 *"' });
  const path = join(project.dir, "config.toml");
  const text = await readFile(path, "utf8");
  await writeFile(path, text.slice(0, text.indexOf("[webhooks.", text.indexOf("[webhooks.") + 1)));
  return project;
}

async function fanOut(
  scheduler: TestScheduler,
  { clients, target }: (typeof sizes)[number],
  { repeats, quick }: BenchOptions,
): Promise<readonly Figure[]> {
  const times = quick ? 3 : 10 * repeats;
  const told = await toldAll(scheduler, clients, times);
  const bytes = told.map((one) => one.bytes);
  const bare = await bareFanOut(clients, times, Math.max(...bytes));
  const ms = (of: readonly Told[]): number[] => of.map((one) => one.ms);
  return [
    figureOf(`status change → all of ${clients} clients`, "ms", ms(told), {
      floor: ms(bare),
      target,
    }),
    figureOf(`bytes of a change for each of ${clients} clients`, "bytes", bytes, {
      target: { most: 1_023 },
    }),
  ];
}

/** Disables and enables an agent. */
async function toldAll(scheduler: TestScheduler, clients: number, times: number): Promise<Told[]> {
  const all = await opened(scheduler, "/dashboard/api/status-stream", clients);
  const told = await repeated(times, (n) => {
    const enabled = n % 2 === 1;
    const words = [agent, `"enabled":${enabled}`];
    const path = `/control/agents/${agent}/${enabled ? "enable" : "disable"}`;
    return tell(all, words, () => scheduler.api(path, { method: "POST" }));
  });
  for (const client of all) client.close();
  return told;
}

function bareFanOut(clients: number, times: number, size: number): Promise<Told[]> {
  return withBare("bare-stream.ts", [String(size)], async ({ said }) => {
    const url = `http://127.0.0.1:${said}`;
    const all = await opened({ url, apiKey: "" }, "/stream", clients);
    const told = await repeated(times, (n) =>
      tell(all, [`change-${n} `], () => fetch(`${url}/change/change-${n}`, { method: "POST" })),
    );
    for (const client of all) client.close();
    return told;
  });
}

async function tell(
  all: readonly SseClient[],
  words: readonly string[],
  change: () => Promise<unknown>,
): Promise<Told> {
  const seen = all.map((client) => client.waitFor(...words));
  const before = all[0]?.bytes() ?? 0;
  const began = performance.now();
  await change();
  const events = await Promise.all(seen);
  // What comes after it is part of it, and the next one is gathered with nothing.
  await wait(150);
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
  // The snapshots are on their way still.
  await wait(1_000);
  return clients;
}
