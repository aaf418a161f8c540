import { pause } from "../../helpers/pause.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { withFolder } from "../floors.ts";
import { totalMb } from "../hop.ts";
import { ask, type Seen, type Wanted } from "../model-client.ts";
import { repeated } from "../repeated.ts";
import { each, startChain, throughput, type OfWays, type Way } from "../ways.ts";

/** The address and the key of a provider, or of what stands in its place. */
type ModelWay = Way<{ readonly url: string; readonly key: string }>;

async function startWays(
  children: AsyncDisposableStack,
  folder: string,
): Promise<OfWays<ModelWay>> {
  const chain = await startChain(children, {
    server: "stream-provider.ts",
    scheduler: "../faults/load/hostile-runs/sockets-server.ts",
    args: (port) => [`http://127.0.0.1:${port}`, folder, "1"],
  });
  const { port, bridges, hops } = chain;
  const at = (base: string, key = "") => ({ url: `${base}/chat/completions`, key });
  return {
    direct: { at: at(`http://127.0.0.1:${port}/v1`), hops: [] },
    through: { at: at(bridges[0]?.baseUrl ?? "", bridges[0]?.key), hops },
  };
}

/** Streams of a model as a run has them, beside direct ones. */
export const modelGateway: Measure = {
  name: "model-gateway",
  run: (options) =>
    withFolder(async (folder) => {
      await using children = new AsyncDisposableStack();
      const ways = await startWays(children, folder);
      const round = (wanted: Wanted) => each(ways, ({ at }) => ask(at, wanted));
      const rates = (wanted: Wanted) => () =>
        each(ways, async ({ at }) => perSecond(await ask(at, wanted)));
      // Code that runs for the first time is compiled.
      await repeated(200, () => round(small));
      const rounds = await repeated(500 * options.repeats, () => round(small));
      const added = rounds.map(({ direct, through }) => through.firstByteMs - direct.firstByteMs);
      return [
        figureOf("model call: latency added to the first byte", "ms", added, {
          target: { median: 3 },
        }),
        ...(await throughput(
          options,
          "model call: MB of one stream",
          ["at 20 times a model's speed", 0.9],
          { paced: rates(paced), fast: rates(fast) },
        )),
        ...(await memory(ways.through)),
      ];
    }),
};

const perSecond = ({ bytes, totalMs }: Seen) => bytes / (totalMs / 1_000) / 1e6;
const small: Wanted = { times: 1, events: 1, pauseMs: 0 };
/** About 5,000 events a second, far more than any model. */
const paced: Wanted = { times: 500, events: 10, pauseMs: 2 };
const fast: Wanted = { times: 2_000, events: 100, pauseMs: 0 };
const long: Wanted = { times: 200, events: 5, pauseMs: 10 };

const streams = ({ at }: ModelWay, count: number) =>
  Promise.all(Array.from({ length: count }, () => ask(at, long)));

/** What streams at once cost, and whether it grows from one round of them to the next. */
async function memory(through: ModelWay) {
  const figures: Figure[] = [];
  for (const count of [10, 100]) {
    const name = `model calls: memory of ${count} streams at once`;
    const grown = await grownMb(through, count);
    figures.push(figureOf(name, "MB", grown, { target: { most: 50 } }));
  }
  const held = await repeated(10, async () => {
    await streams(through, 100);
    return totalMb(through.hops, "heldMb");
  });
  const grown = (held.at(-1) ?? 0) - Math.min(...held);
  const name = `model calls: memory held after ${held.length} rounds of them, grew`;
  return [...figures, figureOf(name, "MB", [grown], { target: { most: 1 } })];
}

/** How much more the processes take while they pass streams on, several times a second. */
async function grownMb(way: ModelWay, count: number): Promise<number[]> {
  // After a garbage collection, so that none in between makes it less.
  await totalMb(way.hops, "heldMb");
  const before = await totalMb(way.hops, "residentMb");
  const over = new AbortController();
  const all = streams(way, count).finally(() => over.abort());
  const samples: number[] = [];
  while (!over.signal.aborted) {
    samples.push((await totalMb(way.hops, "residentMb")) - before);
    await pause(100, "memory is read several times a second");
  }
  await all;
  return samples;
}
