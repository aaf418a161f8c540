import type { Engine } from "../../../src/runtime/runners/container/engine.ts";
import { shareImages } from "./images.ts";
import { createNetwork } from "./network.ts";
import { createNode, dataDirOf, type SwarmNode } from "./node.ts";
import { releaseSlot, takeSlot } from "./slot.ts";

export interface SwarmOptions {
  /** This machine's engine, which has the images. */
  readonly from: Engine;
  /** Names of images that every node has from the start. */
  readonly images: readonly string[];
}

/** For a machine that does much else. */
const settleTimeoutMs = 60_000;

/**
 * Starts n engines on this machine, each with a network and processes of its own, as one Swarm. Needs root. What they
 * use is removed by `stop`, and by the next test run where this one is killed.
 */
export async function startSwarm(n: number, options: SwarmOptions) {
  const slot = takeSlot();
  const nodes: SwarmNode[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    releaseSlot(slot);
  };
  try {
    const numbers = Array.from({ length: n }, (_, index) => index + 1);
    const network = createNetwork(slot.number, n);
    const dirs = numbers.map((number) => dataDirOf(slot, number));
    const layers = await shareImages(options.from, options.images, dirs);
    const place = { slot, network, layers };
    nodes.push(...numbers.map((number) => createNode({ ...place, number })));
    await Promise.all(nodes.map((node) => node.boot()));
    await joinAll(nodes);
    const settle = (timeoutMs = settleTimeoutMs) => settled(nodes, timeoutMs);
    await settle();
    return {
      /** All of them are managers. */
      nodes,
      /** This machine's address, as the nodes and their containers reach it. */
      host: network.host,
      /** Resolves when every node is ready in the eyes of all. All are up and connected. */
      settled: settle,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export type TestSwarm = Awaited<ReturnType<typeof startSwarm>>;

/** Faster than the default: a node that is away is seen in 3 s, and a leader in as much. */
const orchestration = {
  Dispatcher: { HeartbeatPeriod: 1_000_000_000 },
  Raft: { ElectionTick: 3, HeartbeatTick: 1 },
};

const port = 2377;

async function joinAll([first, ...others]: readonly SwarmNode[]): Promise<void> {
  if (first === undefined) return;
  const place = ({ address }: SwarmNode) => ({
    ListenAddr: `${address}:${port}`,
    AdvertiseAddr: `${address}:${port}`,
  });
  await first.engine.streams().swarmInit({ ...place(first), Spec: orchestration });
  const swarm = (await first.engine.calls().swarmInspect()) as JoinTokens;
  for (const node of others) {
    await node.engine.streams().swarmJoin({
      ...place(node),
      RemoteAddrs: [`${first.address}:${port}`],
      JoinToken: swarm.JoinTokens.Manager,
    });
  }
}

interface JoinTokens {
  readonly JoinTokens: { readonly Manager: string };
}

interface NodeState {
  readonly Status: { readonly State: string };
  readonly ManagerStatus?: { readonly Reachability: string };
}

async function settled(nodes: readonly SwarmNode[], timeout: number): Promise<void> {
  const see = async () => {
    for (const node of nodes) {
      if (!(await seesAll(node, nodes.length)))
        throw new Error(`${node.name} does not see all nodes`);
    }
  };
  await vi.waitFor(see, { timeout, interval: 200 });
}

async function seesAll({ engine }: SwarmNode, count: number): Promise<boolean> {
  try {
    const nodes = (await engine.calls().listNodes()) as readonly NodeState[];
    const ready = nodes.filter(
      ({ Status, ManagerStatus }) =>
        Status.State === "ready" && ManagerStatus?.Reachability === "reachable",
    );
    return ready.length === count;
  } catch {
    return false;
  }
}
