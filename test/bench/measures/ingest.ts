import type { TestScheduler } from "../../helpers/scheduler.ts";
import type { LoadRequest } from "../../features/webhooks/load.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { githubDeliveries } from "../deliveries.ts";
import { figureOf, type BenchOptions, type Figure, type Measure } from "../figure.ts";
import { withFloor } from "../floors.ts";
import { sendAll, type Load } from "../load.ts";
import { repeated } from "../repeated.ts";
import type { Target } from "../target.ts";
import { withScheduler } from "../with-scheduler.ts";

/** The one run that the project allows sleeps, and what the agents are given waits. */
const filters = (n: number): string => `scale = 1
hooks.pre = ["sleep 3600"]
[[webhooks]]
source = "github"
events = ["issues"]
repos = ["acme/${agentName(n)}"]
`;

/** What is delivered, each beside the bare server that does as much. */
interface Kind {
  readonly name: string;
  readonly commits: boolean;
  readonly status: number;
  readonly deliveries: (count: number, agents: number) => readonly LoadRequest[];
}

/** One load: what, to how many agents, over how many connections. */
interface Case {
  readonly kind: Kind;
  readonly agents: number;
  readonly connections: number;
}

const kinds: readonly Kind[] = [
  {
    name: "bad signature",
    commits: false,
    status: 401,
    deliveries: (count) => githubDeliveries({ count, secret: "wrong" }),
  },
  {
    name: "duplicate",
    commits: true,
    status: 200,
    deliveries: (count) => githubDeliveries({ count, id: () => "same" }),
  },
  {
    name: "no match",
    commits: true,
    status: 200,
    deliveries: (count) => githubDeliveries({ count }),
  },
  {
    name: "match",
    commits: true,
    status: 200,
    deliveries: (count, agents) =>
      githubDeliveries({ count, repo: (n) => `acme/${agentName(n % agents)}` }),
  },
];

function rateTarget({ kind, agents, connections }: Case): Target | null {
  if (connections !== 50) return null;
  if (kind.name === "bad signature") return { ofFloor: 0.85 };
  return kind.name === "match" && agents === 1_000 ? { median: 10_000, ofFloor: 0.6 } : null;
}

function latencyTarget({ kind, agents, connections }: Case): Target | null {
  if (kind.name !== "match" || agents !== 1_000) return null;
  // All of them at once over 200 connections are a burst.
  return { 50: { p99: 25 }, 200: { p99: 250 } }[connections] ?? null;
}

/** Signed deliveries from a second process, each answered after its commit; beside it the bare server. */
export const ingest: Measure = {
  name: "ingest",
  run: async (options) => {
    const figures: Figure[] = [];
    for (const agents of options.quick ? [10] : [100, 1_000]) {
      const project = benchProject({ count: agents, config: filters });
      const measure = (scheduler: TestScheduler): Promise<readonly Figure[]> =>
        measured(scheduler, agents, options);
      figures.push(...(await withScheduler(project, measure)));
    }
    return figures;
  },
};

async function measured(
  scheduler: TestScheduler,
  agents: number,
  options: BenchOptions,
): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const connections of [10, 50, 200]) {
    const size = { agents, connections };
    const rounds = await repeated(options.repeats, () =>
      round(scheduler, size, options.quick ? 500 : 10_000),
    );
    kinds.forEach((kind, place) => {
      const loads = rounds.flatMap((each) => each.loads[place] ?? []);
      const floors = rounds.map(({ floors }) => (kind.commits ? floors.commits : floors.answers));
      figures.push(...figuresOf({ kind, ...size }, loads, floors));
    });
  }
  return figures;
}

interface Round {
  /** In the order of the kinds. */
  readonly loads: readonly Load[];
  /** What the bare server did, once without and once with commits. */
  readonly floors: { readonly answers: Load; readonly commits: Load };
}

/** Each load once, and the floors in the same minute. */
async function round(
  scheduler: TestScheduler,
  { agents, connections }: Omit<Case, "kind">,
  count: number,
): Promise<Round> {
  const bare = (url: string): Promise<Load> =>
    sendAll(url, githubDeliveries({ count }), connections);
  const floors = { answers: await withFloor(false, bare), commits: await withFloor(true, bare) };
  const loads: Load[] = [];
  for (const kind of kinds) {
    loads.push(await send(scheduler, { kind, agents, connections }, count));
  }
  return { loads, floors };
}

async function send(
  { url }: TestScheduler,
  { kind, agents, connections }: Case,
  count: number,
): Promise<Load> {
  const address = url.replace("localhost", "127.0.0.1");
  const load = await sendAll(address, kind.deliveries(count, agents), connections);
  const wrong = Object.keys(load.statuses).filter((status) => Number(status) !== kind.status);
  if (wrong.length > 0) throw new Error(`${kind.name}: answered ${JSON.stringify(load.statuses)}`);
  return load;
}

function figuresOf(one: Case, loads: readonly Load[], floors: readonly Load[]): readonly Figure[] {
  const { kind, agents, connections } = one;
  const rates = (of: readonly Load[]): number[] => of.map(({ rate }) => rate);
  const latencies = (of: readonly Load[]): number[] => of.flatMap((load) => load.latencies);
  const name = `${kind.name}, ${agents} agents, ${connections} connections`;
  return [
    figureOf(`webhooks: ${name}`, "/s", rates(loads), {
      floor: rates(floors),
      target: rateTarget(one),
    }),
    figureOf(`webhooks: ${name}, latency`, "ms", latencies(loads), {
      floor: latencies(floors),
      target: latencyTarget(one),
    }),
  ];
}
