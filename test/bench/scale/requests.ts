import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentName } from "../bench-project.ts";
import { figureOf } from "../figure.ts";
import type { Figure } from "../figure.ts";
import { processorMs } from "./processor.ts";

/** A request that a page, a command or a monitor makes. */
interface Asked {
  readonly name: string;
  /** By the number of the repetition: no answer is asked for twice in a row. */
  readonly path: (n: number) => string;
}

/** Every project of the bench has these. */
const agent = (n: number): string => agentName((n * 37) % 100);

/** What the pages of the dashboard load, and the API around them. */
function asked(entries: number, instances: readonly string[]): readonly Asked[] {
  const history = (query: string) => () => `/api/stats/triggers?${query}`;
  return [
    { name: "GET /health", path: () => "/health" },
    { name: "status of all agents", path: () => "/control/status" },
    { name: "an agent's config and facts", path: (n) => `/dashboard/api/agents/${agent(n)}` },
    { name: "history: the first page", path: history("") },
    { name: "history: the last page", path: history(`page=${Math.floor(entries / 100)}`) },
    { name: "history: an agent's", path: (n) => `/api/stats/triggers?agent=${agent(n)}&limit=20` },
    { name: "history: what failed, page 20", path: history("outcome=failed&page=20") },
    { name: "a run", path: (n) => `/api/runs/${instances[n % instances.length] ?? ""}` },
    { name: "an agent's log, newest lines", path: (n) => `/api/logs/agents/${agent(n)}` },
    { name: "why an agent did not run", path: (n) => `/api/agents/${agent(n)}/why-not` },
    { name: "search: a word", path: () => "/api/search?q=certificate" },
    {
      name: "search: a word of an agent",
      path: (n) => `/api/search?q=scheduler&agent=${agent(n)}`,
    },
    { name: "cost of 30 days, by agent", path: () => "/api/spend?by=agent" },
    { name: "cost of an agent", path: (n) => `/api/spend?agent=${agent(n)}` },
    { name: "alerts", path: () => "/api/alerts" },
    { name: "metrics for Prometheus", path: () => "/metrics" },
  ];
}

/** How long each takes, and of it the processor time of the scheduler; asked one after the other. */
export async function requestFigures(
  scheduler: TestScheduler,
  { entries, times }: { readonly entries: number; readonly times: number },
): Promise<readonly Figure[]> {
  const instances = await someInstances(scheduler);
  const figures: Figure[] = [];
  for (const one of asked(entries, instances)) {
    // The first one compiles code, starts threads and fills caches.
    await ask(scheduler, one.path(0));
    figures.push(await measured(scheduler, one, times));
  }
  return figures;
}

/** A slow request is asked for this long, in ms, and a few times at least. */
const patienceMs = 8_000;
const fewest = 3;

async function measured(scheduler: TestScheduler, one: Asked, times: number): Promise<Figure> {
  const took: number[] = [];
  const before = processorMs(scheduler.pid);
  const began = performance.now();
  while (took.length < times) {
    if (took.length >= fewest && performance.now() - began > patienceMs) break;
    took.push(await ask(scheduler, one.path(took.length + 1)));
  }
  const processor = (processorMs(scheduler.pid) - before) / took.length;
  return { ...figureOf(one.name, "ms", took), processorMs: processor };
}

/** What takes longer is broken, in ms. */
const longestMs = 60_000;

/** In ms, until the last byte. */
async function ask(scheduler: TestScheduler, path: string): Promise<number> {
  const began = performance.now();
  const answer = await scheduler.api(path, { signal: AbortSignal.timeout(longestMs) });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
  return performance.now() - began;
}

async function someInstances({ api }: TestScheduler): Promise<readonly string[]> {
  const answer = await api("/api/stats/triggers?limit=100&page=3");
  const { triggers } = (await answer.json()) as { triggers: { instanceId: string | null }[] };
  return triggers.flatMap(({ instanceId }) => instanceId ?? []);
}
