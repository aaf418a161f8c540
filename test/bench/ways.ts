import type { HostileRun } from "../faults/load/hostile-runs/attack.ts";
import { figureOf, type BenchOptions, type Figure } from "./figure.ts";
import { startHop, type Hop } from "./hop.ts";
import { repeated } from "./repeated.ts";

/** Something of each way from a client to a server outside. */
export interface OfWays<T> {
  readonly direct: T;
  /** Through the bridge of a run, its socket and the scheduler's side of it. */
  readonly through: T;
}

/** Where a way begins, and the processes in between. */
export interface Way<At> {
  readonly at: At;
  readonly hops: readonly Hop[];
}

interface Programs {
  readonly server: string;
  readonly scheduler: string;
  /** Arguments of the scheduler's side, by the server's port. */
  readonly args: (port: number) => readonly string[];
}

/** What a bridge prints. */
export interface BridgeSaid {
  readonly baseUrl: string;
  readonly key: string;
  readonly proxyUrl: string;
}

/** Starts a server, and the bridges of runs to the scheduler's side, each in a process of its own. */
export async function startChain(
  children: AsyncDisposableStack,
  { server, scheduler, args }: Programs,
) {
  const { said: host } = await startHop<{ port: number }>(children, server);
  type Opened = { opened: readonly HostileRun[] };
  const side = await startHop<Opened>(children, scheduler, ...args(host.port));
  const base = `http://127.0.0.1:${host.port}/v1`;
  const bridges = [];
  for (const { path, token } of side.said.opened)
    bridges.push(await startHop<BridgeSaid>(children, "bridge-server.ts", path, token, base));
  return {
    port: host.port,
    bridges: bridges.map(({ said }) => said),
    hops: [...bridges, side],
  };
}

/** One after the other, so that all meet the same minutes of the machine. */
export async function each<W, T>(
  { direct, through }: OfWays<W>,
  act: (way: W) => Promise<T>,
): Promise<OfWays<T>> {
  return { direct: await act(direct), through: await act(through) };
}

/** MB a second at the speed of what sends them, a part of the direct ones, and at the machine's speed. */
export async function throughput(
  { repeats }: BenchOptions,
  name: string,
  [speed, ofFloor]: readonly [name: string, ofFloor: number],
  { paced, fast }: Readonly<Record<"paced" | "fast", () => Promise<OfWays<number>>>>,
): Promise<readonly Figure[]> {
  const of = async (round: () => Promise<OfWays<number>>) => {
    const rounds = await repeated(3 * repeats, round);
    return (way: keyof OfWays<number>) => rounds.map((one) => one[way]);
  };
  const [slow, quickest] = [await of(paced), await of(fast)];
  const floor = quickest("direct");
  return [
    figureOf(`${name}, ${speed}`, "/s", slow("through"), {
      target: { ofFloor },
      floor: slow("direct"),
    }),
    // What takes all of the processor has to share it with the processes in between.
    figureOf(`${name}, at the machine's speed`, "/s", quickest("through"), { floor }),
  ];
}
