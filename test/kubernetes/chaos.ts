import { setTimeout as wait } from "node:timers/promises";
import { randomBy } from "../faults/crash/crash-plan.ts";
import type { KubeNode } from "../helpers/kubernetes/kube-node.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";

/** What befalls a node of the cluster, its API server, or the scheduler. */
const faults = [
  "node killed",
  "node cut off",
  "node drained",
  "node cut off for longer than the lease",
  "al killed",
  "API server away",
] as const;

export interface Round {
  readonly fault: (typeof faults)[number];
  /** Index of the node. */
  readonly node: number;
  /** So long after the start of the round's runs. */
  readonly afterMs: number;
  /** And so long. */
  readonly forMs: number;
}

export function roundOf(seed: number, nodes: number, leaseMs: number): Round {
  const random = randomBy(seed);
  const fault = faults[Math.floor(random() * faults.length)] ?? "node killed";
  const isLong = fault === "node cut off for longer than the lease";
  return {
    fault,
    node: Math.floor(random() * nodes),
    afterMs: 500 + random() * 6_000,
    forMs: isLong ? leaseMs + 2_000 + random() * 4_000 : 500 + random() * (leaseMs / 2),
  };
}

/** Resolves once the cluster is as it was before. `crash` kills the scheduler, and resolves to a function that starts it. */
export async function befall(
  { nodes, api, kubectl }: LiveCluster,
  { fault, node: index, forMs }: Round,
  crash: () => Promise<() => Promise<unknown>>,
): Promise<void> {
  const node = nodes[index] as KubeNode;
  switch (fault) {
    case "node killed":
      await node.kill();
      await wait(forMs);
      node.boot();
      return;
    case "node drained":
      // After restarts of the API server its clients wait up to 60 s before they watch again; the Job controller is one.
      await kubectl("drain", node.name, "--delete-emptydir-data", "--timeout=180s");
      await wait(forMs);
      await kubectl("uncordon", node.name);
      return;
    case "al killed": {
      const start = await crash();
      await wait(forMs);
      await start();
      return;
    }
    case "API server away":
      await api.kill();
      await wait(forMs);
      return api.start();
    default:
      node.partition();
      await wait(forMs);
      node.heal();
  }
}
