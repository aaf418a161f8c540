import { figureOf, type BenchOptions, type Figure, type Measure } from "../figure.ts";
import { withFolder } from "../floors.ts";
import { startWays, type Way, type Ways } from "../model-chain.ts";
import { ask, type Seen, type Wanted } from "../model-client.ts";
import { totalMb } from "../hop.ts";
import { repeated } from "../repeated.ts";

/** Streams of a model as a run has them, beside bare proxies of as many processes, and direct ones. */
export const modelGateway: Measure = {
  name: "model-gateway",
  run: (options) =>
    withFolder(async (folder) => {
      await using children = new AsyncDisposableStack();
      const ways = await startWays(children, folder);
      // Code that runs for the first time is compiled.
      await repeated(200, () => each(ways, small));
      return [
        ...(await latency(ways, options)),
        ...(await throughput(ways, options)),
        ...(await memory(ways, options)),
      ];
    }),
};

const small: Wanted = { times: 1, events: 1, pauseMs: 0 };
/** About 5,000 events a second, far more than any model. */
const paced: Wanted = { times: 500, events: 10, pauseMs: 2 };
const fast: Wanted = { times: 2_000, events: 100, pauseMs: 0 };
const long: Wanted = { times: 200, events: 5, pauseMs: 10 };

/** One after the other, so that all meet the same minutes of the machine. */
async function each({ direct, bare, through }: Ways, wanted: Wanted) {
  return {
    direct: await ask(direct, wanted),
    bare: await ask(bare, wanted),
    through: await ask(through, wanted),
  };
}

async function latency(ways: Ways, { quick, repeats }: BenchOptions): Promise<readonly Figure[]> {
  const rounds = await repeated(quick ? 20 : 500 * repeats, () => each(ways, small));
  const added = (way: "bare" | "through") =>
    rounds.map((round) => round[way].firstByteMs - round.direct.firstByteMs);
  return [
    figureOf("model call: latency added to the first byte", "ms", added("through"), {
      target: { median: 3 },
      floor: added("bare"),
    }),
  ];
}

async function throughput(
  ways: Ways,
  { quick, repeats }: BenchOptions,
): Promise<readonly Figure[]> {
  const perSecond = ({ bytes, totalMs }: Seen) => bytes / (totalMs / 1_000) / 1e6;
  const times = quick ? 1 : 3 * repeats;
  const slow = await repeated(times, () => each(ways, paced));
  const quickest = await repeated(times, () => each(ways, fast));
  const name = "model call: MB of one stream";
  const of = (rounds: typeof slow, way: keyof Ways) => rounds.map((round) => perSecond(round[way]));
  return [
    figureOf(`${name}, at 20 times a model's speed`, "/s", of(slow, "through"), {
      target: { ofFloor: 0.9 },
      floor: of(slow, "direct"),
    }),
    // What takes all of the processor has to share it with the gateway.
    figureOf(`${name}, at the machine's speed`, "/s", of(quickest, "through"), {
      floor: of(quickest, "direct"),
    }),
    figureOf(`${name}, at the machine's speed, bare proxies`, "/s", of(quickest, "bare"), {
      floor: of(quickest, "direct"),
    }),
  ];
}

const rounds = 10;

/** What streams at once cost, and whether it grows from one round of them to the next. */
async function memory(
  { bare, through }: Ways,
  { quick }: BenchOptions,
): Promise<readonly Figure[]> {
  const counts = quick ? [10] : [10, 100];
  const figures: Figure[] = [];
  for (const count of counts) {
    const floor = await grownMb(bare, count);
    figures.push(
      figureOf(
        `model calls: memory of ${count} streams at once`,
        "MB",
        await grownMb(through, count),
        { target: { most: 50 }, floor },
      ),
    );
  }
  const held = await repeated(quick ? 2 : rounds, async () => {
    await streams(through, counts.at(-1) ?? 0);
    return totalMb(through.hops, "heldMb");
  });
  const grown = (held.at(-1) ?? 0) - Math.min(...held);
  return [
    ...figures,
    figureOf(`model calls: memory held after ${held.length} rounds of them, grew`, "MB", [grown], {
      target: { most: 1 },
    }),
  ];
}

/** How much more the processes take while they pass streams on, several times a second. */
async function grownMb(way: Way, count: number): Promise<number[]> {
  // After a garbage collection, so that none in between makes it less.
  await totalMb(way.hops, "heldMb");
  const before = await totalMb(way.hops, "residentMb");
  const over = new AbortController();
  const all = streams(way, count).finally(() => over.abort());
  const samples: number[] = [];
  while (!over.signal.aborted) {
    samples.push((await totalMb(way.hops, "residentMb")) - before);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await all;
  return samples;
}

function streams(way: Way, count: number): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, () => ask(way, long)));
}
