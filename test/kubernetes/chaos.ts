import type { KubeNode } from "../helpers/kubernetes/kube-node.ts";
import type { LiveCluster } from "../helpers/kubernetes/live-cluster.ts";
import type { Round } from "../runtime/cluster/rounds.ts";
import { pause } from "../helpers/pause.ts";

/** What befalls a node of the cluster, its API server, or the scheduler. */
export const faults = [
  "node killed",
  "node cut off",
  "node drained",
  "node cut off for longer than the lease",
  "al killed",
  "API server away",
] as const;

/** Resolves once the cluster is as it was before. `crash` kills the scheduler, and resolves to a function that starts it. */
export async function befall(
  { nodes, api, kubectl }: LiveCluster,
  { fault, node: index, forMs }: Round<(typeof faults)[number]>,
  crash: () => Promise<() => Promise<unknown>>,
): Promise<void> {
  const node = nodes[index] as KubeNode;
  switch (fault) {
    case "node killed":
      await node.kill();
      await pause(forMs, "the fault lasts");
      node.boot();
      return;
    case "node drained":
      // After restarts of the API server its clients wait up to 60 s before they watch again; the Job controller is one.
      await kubectl("drain", node.name, "--delete-emptydir-data", "--timeout=180s");
      await pause(forMs, "the fault lasts");
      await kubectl("uncordon", node.name);
      return;
    case "al killed": {
      const start = await crash();
      await pause(forMs, "the fault lasts");
      await start();
      return;
    }
    case "API server away":
      await api.kill();
      await pause(forMs, "the fault lasts");
      return api.start();
    default:
      node.partition();
      await pause(forMs, "the fault lasts");
      node.heal();
  }
}
