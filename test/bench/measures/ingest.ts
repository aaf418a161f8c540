import type { TestScheduler } from "../../helpers/scheduler.ts";
import type { LoadRequest } from "../../webhooks/load.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { githubDeliveries } from "../deliveries.ts";
import { figureOf } from "../figure.ts";
import type { BenchOptions, Figure, Measure } from "../figure.ts";
import { withFloor } from "../floors.ts";
import { sendAll } from "../load.ts";
import type { Load } from "../load.ts";
import { withScheduler } from "../with-scheduler.ts";

/** The one run that the project allows sleeps; what the agents are given waits, and the oldest makes room. */
const filters = (n: number): string => `scale = 1
maxWorkQueueSize = 1
hooks.pre = ["sleep 3600"]
[[webhooks]]
source = "github"
events = ["issues"]
repos = ["acme/${agentName(n)}"]
`;

interface Case {
  readonly name: string;
  readonly agents: number;
  readonly connections: number;
  readonly target: string | null;
  readonly deliveries: (count: number) => readonly LoadRequest[];
  readonly commits: boolean;
}

const matching = (agents: number) => (count: number) =>
  githubDeliveries({ count, repo: (n) => `acme/${agentName(n % agents)}` });
const unmatched = (count: number) => githubDeliveries({ count });

const cases: readonly Case[] = [
  {
    name: "no match",
    agents: 100,
    connections: 50,
    target: null,
    deliveries: unmatched,
    commits: true,
  },
  ...[10, 50, 200].map((connections) => ({
    name: `match among 1,000 agents, ${connections} connections`,
    agents: 1_000,
    connections,
    target: connections === 50 ? "10,000/s, 60% of the floor; p99 25 ms" : null,
    deliveries: matching(1_000),
    commits: true,
  })),
  {
    name: "match among 100 agents",
    agents: 100,
    connections: 50,
    target: null,
    deliveries: matching(100),
    commits: true,
  },
  {
    name: "bad signature",
    agents: 100,
    connections: 50,
    target: "85% of the floor",
    deliveries: (count) => githubDeliveries({ count, secret: "wrong" }),
    commits: false,
  },
  {
    name: "duplicate",
    agents: 100,
    connections: 50,
    target: null,
    deliveries: (count) => githubDeliveries({ count, id: () => "same" }),
    commits: true,
  },
];

/** Signed deliveries from a second process, each answered after its commit; beside it the bare server. */
export const ingest: Measure = {
  name: "ingest",
  run: async (options) => {
    const figures: Figure[] = [];
    for (const one of options.quick ? cases.slice(0, 1) : cases) {
      figures.push(...(await measured(one, options)));
    }
    return figures;
  },
};

async function measured(one: Case, { repeats, quick }: BenchOptions): Promise<readonly Figure[]> {
  const count = quick ? 500 : 20_000;
  const agents = quick ? 10 : one.agents;
  const project = benchProject({ count: agents, config: filters });
  const loads: Load[] = await withScheduler(project, (scheduler) =>
    repeated(repeats, () => send(scheduler, one, count)),
  );
  const floors = await withFloor(one.commits, (url) =>
    repeated(repeats, () => sendAll(url, one.deliveries(count), one.connections)),
  );
  const rate = ({ rate }: Load): number => rate;
  const floor = figureOf("", "/s", floors.map(rate)).median;
  const { name, target } = one;
  const p99s = loads.map(({ p99 }) => p99);
  return [
    figureOf(`webhooks: ${name}`, "/s", loads.map(rate), { floor, target }),
    figureOf(`webhooks: ${name}, p99`, "ms", p99s, {
      floor: figureOf(
        "",
        "ms",
        floors.map(({ p99 }) => p99),
      ).median,
    }),
  ];
}

async function send({ url }: TestScheduler, one: Case, count: number): Promise<Load> {
  const load = await sendAll(
    url.replace("localhost", "127.0.0.1"),
    one.deliveries(count),
    one.connections,
  );
  const expected = one.name === "bad signature" ? "401" : "200";
  const wrong = Object.keys(load.statuses).filter((status) => status !== expected);
  if (wrong.length > 0) throw new Error(`${one.name}: answered ${JSON.stringify(load.statuses)}`);
  return load;
}

async function repeated<T>(times: number, once: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let n = 0; n < times; n++) results.push(await once());
  return results;
}
