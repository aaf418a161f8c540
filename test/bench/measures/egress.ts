import { figureOf, type BenchOptions, type Figure, type Measure } from "../figure.ts";
import { withFolder } from "../floors.ts";
import { totalMb } from "../hop.ts";
import { repeated } from "../repeated.ts";
import { startTunnelWays, type TunnelWay, type TunnelWays } from "../tunnel-chain.ts";
import { downloadRate, openTunnel } from "../tunnel-client.ts";

/** Tunnels to an allowed host as a run has them, beside bare proxies of as many processes, and direct ones. */
export const egress: Measure = {
  name: "egress",
  run: (options) =>
    withFolder(async (folder) => {
      await using children = new AsyncDisposableStack();
      const ways = await startTunnelWays(children, folder);
      // Code that runs for the first time is compiled.
      await repeated(5, () => each(ways, { bytes: 20e6, perSecond: null }));
      return [...(await throughput(ways, options)), ...(await memory(ways, options))];
    }),
};

/** Throughput of a network of 1 Gbit/s. */
const gigabit = 125e6;

/** One after the other, so that all meet the same minutes of the machine. */
async function each(
  { direct, bare, through }: TunnelWays,
  wanted: Parameters<typeof downloadRate>[1],
) {
  return {
    direct: await downloadRate(direct, wanted),
    bare: await downloadRate(bare, wanted),
    through: await downloadRate(through, wanted),
  };
}

async function throughput(
  ways: TunnelWays,
  { quick, repeats }: BenchOptions,
): Promise<readonly Figure[]> {
  const times = quick ? 1 : 3 * repeats;
  const bytes = quick ? 20e6 : 100e6;
  const paced = await repeated(times, () => each(ways, { bytes, perSecond: gigabit }));
  const fast = await repeated(times, () => each(ways, { bytes, perSecond: null }));
  const of = (rounds: typeof fast, way: keyof TunnelWays) => rounds.map((round) => round[way]);
  const name = "tunnel: MB over TLS";
  return [
    figureOf(`${name}, from a host that sends 1 Gbit/s`, "/s", of(paced, "through"), {
      target: { ofFloor: 0.8 },
      floor: of(paced, "direct"),
    }),
    figureOf(`${name}, at the machine's speed`, "/s", of(fast, "through"), {
      floor: of(fast, "direct"),
    }),
    figureOf(`${name}, at the machine's speed, bare proxies`, "/s", of(fast, "bare"), {
      floor: of(fast, "direct"),
    }),
  ];
}

const manyTunnels = 200;

async function memory(
  { bare, through }: TunnelWays,
  { quick }: BenchOptions,
): Promise<readonly Figure[]> {
  const times = quick ? 1 : 5;
  const floor = await repeated(times, () => grownMb(bare));
  return [
    figureOf(
      `tunnels: memory of ${manyTunnels} open ones`,
      "MB",
      await repeated(times, () => grownMb(through)),
      { target: { most: 20 }, floor },
    ),
  ];
}

/** How much more the processes take with so many tunnels open. */
async function grownMb(way: TunnelWay): Promise<number> {
  // After a garbage collection, so that none in between makes it less.
  await totalMb(way.hops, "heldMb");
  const before = await totalMb(way.hops, "residentMb");
  const tunnels = [];
  for (let n = 0; n < manyTunnels; n++) tunnels.push(await openTunnel(way));
  await totalMb(way.hops, "heldMb");
  const grown = (await totalMb(way.hops, "residentMb")) - before;
  for (const tunnel of tunnels) tunnel.destroy();
  return grown;
}
