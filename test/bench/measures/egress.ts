import { figureOf, type Measure } from "../figure.ts";
import { withFolder } from "../floors.ts";
import { totalMb } from "../hop.ts";
import { repeated } from "../repeated.ts";
import { connected, downloadRate, openTunnel, tunnel, tunnelHost } from "../tunnel-client.ts";
import type { TunnelWay } from "../tunnel-client.ts";
import { each, startChain, throughput, type OfWays } from "../ways.ts";

/** The third way leads by the bridges of two runs in turns. */
async function startWays(
  children: AsyncDisposableStack,
  folder: string,
): Promise<OfWays<TunnelWay>> {
  const chain = await startChain(children, {
    server: "tunnel-host.ts",
    scheduler: "egress-server.ts",
    args: (port) => [String(port), tunnelHost, folder],
  });
  const { port, bridges, hops } = chain;
  let turn = 0;
  return {
    direct: { at: () => connected(port), hops: [] },
    through: {
      at: () => tunnel(bridges[turn++ % bridges.length]?.proxyUrl ?? ""),
      hops,
    },
  };
}

/** Throughput of a network of 1 Gbit/s. */
const gigabit = 125e6;
const manyTunnels = 200;

/** Tunnels to an allowed host as a run has them, beside direct ones. */
export const egress: Measure = {
  name: "egress",
  run: (options) =>
    withFolder(async (folder) => {
      await using children = new AsyncDisposableStack();
      const ways = await startWays(children, folder);
      const rates = (perSecond: number | null, bytes: number) => () =>
        each(ways, (way) => downloadRate(way, { bytes, perSecond }));
      // Code that runs for the first time is compiled.
      await repeated(5, rates(null, 20e6));
      const bytes = 100e6;
      const speeds = await throughput(
        options,
        "tunnel: MB over TLS",
        ["from a host that sends 1 Gbit/s", 0.8],
        { paced: rates(gigabit, bytes), fast: rates(null, bytes) },
      );
      const name = `tunnels: memory of ${manyTunnels} open ones`;
      const memory = await repeated(5, () => grownMb(ways.through));
      return [...speeds, figureOf(name, "MB", memory, { target: { most: 20 } })];
    }),
};

/** How much more the processes take with so many tunnels open. */
async function grownMb(way: TunnelWay): Promise<number> {
  // After a garbage collection, so that none in between makes it less.
  await totalMb(way.hops, "heldMb");
  const before = await totalMb(way.hops, "residentMb");
  const tunnels = await repeated(manyTunnels, () => openTunnel(way));
  await totalMb(way.hops, "heldMb");
  const grown = (await totalMb(way.hops, "residentMb")) - before;
  for (const one of tunnels) one.destroy();
  return grown;
}
