import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { deliveriesTo, githubDeliveries, type DeliveriesOptions } from "../deliveries.ts";
import { figureOf, type BenchOptions, type Figure, type Measure } from "../figure.ts";
import { withFloor } from "../floors.ts";
import { sendAll, type Load } from "../load.ts";
import { repeated } from "../repeated.ts";
import type { Target } from "../target.ts";
import { withScheduler } from "../with-scheduler.ts";

/** What is delivered, each beside the bare server that does as much. */
interface Kind {
  readonly name: string;
  readonly commits: boolean;
  readonly status: number;
  readonly deliveries: (agents: number) => Omit<DeliveriesOptions, "count">;
}

const kinds: readonly Kind[] = [
  { name: "bad signature", commits: false, status: 401, deliveries: () => ({ secret: "wrong" }) },
  { name: "duplicate", commits: true, status: 200, deliveries: () => ({ id: () => "same" }) },
  { name: "no match", commits: true, status: 200, deliveries: () => ({}) },
  {
    name: "match",
    commits: true,
    status: 200,
    deliveries: (agents) => ({ repo: (n) => `acme/${agentName(n % agents)}` }),
  },
];

/** To reach, by kind, number of agents and of connections. All at once over 200 connections are a burst. */
const targets: Readonly<Record<string, readonly [rate: Target | null, latency: Target | null]>> = {
  "bad signature, 100 agents, 50": [{ ofFloor: 0.85 }, null],
  "bad signature, 1000 agents, 50": [{ ofFloor: 0.85 }, null],
  "match, 1000 agents, 50": [{ median: 10_000, ofFloor: 0.6 }, { p99: 25 }],
  "match, 1000 agents, 200": [null, { p99: 250 }],
};

/** Signed deliveries from a second process, each answered after its commit; beside it the bare server. */
export const ingest: Measure = {
  name: "ingest",
  run: async (options) => {
    const figures: Figure[] = [];
    for (const count of [100, 1_000]) {
      const project = benchProject({ count, config: (n) => deliveriesTo(agentName(n)) });
      figures.push(...(await withScheduler(project, (one) => measured(one, count, options))));
    }
    return figures;
  },
};

async function measured({ url }: TestScheduler, agents: number, options: BenchOptions) {
  const figures: Figure[] = [];
  const count = 10_000;
  for (const connections of [10, 50, 200]) {
    const bare = (at: string) => sendAll(at, githubDeliveries({ count }), connections);
    // Each load once, and the floors in the same minute.
    const rounds = await repeated(options.repeats, async () => {
      const floors = [await withFloor(false, bare), await withFloor(true, bare)] as const;
      const loads = await repeated(kinds.length, async (place) => {
        const { deliveries, status, name } = kinds[place] as Kind;
        const load = await sendAll(
          url,
          githubDeliveries({ count, ...deliveries(agents) }),
          connections,
        );
        const wrong = Object.keys(load.statuses).some((one) => Number(one) !== status);
        if (wrong) throw new Error(`${name}: answered ${JSON.stringify(load.statuses)}`);
        return load;
      });
      return { floors, loads };
    });
    kinds.forEach(({ name, commits }, place) => {
      const loads = rounds.flatMap((each) => each.loads[place] ?? []);
      const floors = rounds.map((each) => each.floors[commits ? 1 : 0]);
      const title = `${name}, ${agents} agents, ${connections}`;
      figures.push(...figuresOf(title, loads, floors));
    });
  }
  return figures;
}

function figuresOf(title: string, loads: readonly Load[], floors: readonly Load[]) {
  const rates = (of: readonly Load[]) => of.map(({ rate }) => rate);
  const latencies = (of: readonly Load[]) => of.flatMap((load) => load.latencies);
  const [rate = null, latency = null] = targets[title] ?? [];
  const name = `webhooks: ${title} connections`;
  return [
    figureOf(name, "/s", rates(loads), { floor: rates(floors), target: rate }),
    figureOf(`${name}, latency`, "ms", latencies(loads), {
      floor: latencies(floors),
      target: latency,
    }),
  ];
}
