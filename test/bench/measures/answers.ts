import { setTimeout as wait } from "node:timers/promises";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { githubDeliveries } from "../deliveries.ts";
import { figureOf, type BenchOptions, type Figure, type Measure } from "../figure.ts";
import { withFloor } from "../floors.ts";
import { getAll, sendAll, type Load } from "../load.ts";
import { repeated } from "../repeated.ts";
import { residentMb, withScheduler } from "../with-scheduler.ts";

const agents = 100;
const connections = 50;
const config = (n: number): string => `hooks.pre = ["sleep 3600"]
[[webhooks]]
source = "github"
events = ["issues"]
repos = ["acme/${agentName(n)}"]
`;

/** `GET /health` beside a bare route, and memory while deliveries come and a minute after them. */
export const answers: Measure = {
  name: "answers",
  run: (options) =>
    withScheduler(benchProject({ count: agents, config }), async (scheduler) => [
      ...(await health(scheduler, options)),
      ...(await memory(scheduler, options)),
    ]),
};

async function health(
  { url }: TestScheduler,
  { repeats, quick }: BenchOptions,
): Promise<readonly Figure[]> {
  const count = quick ? 2_000 : 50_000;
  const ask = (origin: string): Promise<Load> => getAll(`${origin}/health`, count, connections);
  const rounds = await repeated(repeats, async () => ({
    floor: await withFloor(false, ask),
    load: await ask(url.replace("localhost", "127.0.0.1")),
  }));
  const name = `GET /health, ${connections} connections`;
  return [
    figureOf(
      name,
      "/s",
      rounds.map(({ load }) => load.rate),
      { floor: rounds.map(({ floor }) => floor.rate), target: { ofFloor: 0.8 } },
    ),
    figureOf(
      `${name}, latency`,
      "ms",
      rounds.flatMap(({ load }) => load.latencies),
      { floor: rounds.flatMap(({ floor }) => floor.latencies), target: { p99: 25 } },
    ),
  ];
}

async function memory(
  { url, pid }: TestScheduler,
  { quick }: BenchOptions,
): Promise<readonly Figure[]> {
  const restMs = quick ? 2_000 : 60_000;
  await wait(restMs);
  const before = await residentMb(pid);
  const during: number[] = [];
  const until = performance.now() + restMs;
  while (performance.now() < until) {
    const deliveries = githubDeliveries({
      count: 2_000,
      repo: (n) => `acme/${agentName(n % agents)}`,
    });
    await sendAll(url.replace("localhost", "127.0.0.1"), deliveries, connections);
    during.push(await residentMb(pid));
  }
  await wait(restMs);
  const name = `memory, ${connections} connections deliver for ${restMs / 1000} s`;
  return [
    figureOf(name, "MB", during, { target: { most: 300 } }),
    figureOf(`${name}: grew, as long after it`, "MB", [(await residentMb(pid)) - before], {
      target: { most: 20 },
    }),
  ];
}
