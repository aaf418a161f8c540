import { expect, onTestFinished } from "vitest";
import { runName } from "../../../../src/runtime/cluster/cluster-engine.ts";
import type {
  ClusterEngine,
  Launch,
  PlacedRun,
} from "../../../../src/runtime/cluster/cluster-engine.ts";
import { createKubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { functionPods } from "../../../helpers/kubernetes/function-pods.ts";
import { startSmallCluster } from "../../../helpers/kubernetes/small-cluster.ts";
import type { SmallClusterOptions } from "../../../helpers/kubernetes/small-cluster.ts";

export const project = "0123456789abcdef";

/** An engine over a small cluster whose pods are functions of the test. */
export async function engineTest(
  options: Partial<SmallClusterOptions> & { readonly address?: string } = {},
) {
  const pods = functionPods();
  const { address = "127.0.0.1:8443", ...ofCluster } = options;
  const cluster = await startSmallCluster({ start: pods.start, secondMs: 50, ...ofCluster });
  /** An engine of one more scheduler of the project. */
  const another = (at = address) => {
    const config = { address: at, namespace: null };
    return createKubernetesEngine({ config, project, kubeconfig: cluster.kubeconfig });
  };
  onTestFinished(async () => {
    await cluster.stop();
    expect(cluster.violations()).toEqual([]);
  });
  return { engine: another(), cluster, pods, another };
}

export const secretTicket = JSON.stringify({ ticket: "the-secret-ticket" });

export function launch(instanceId: string, over: Partial<Launch> = {}): Launch {
  return {
    name: runName(instanceId),
    instanceId,
    agent: "dev",
    volumes: [],
    image: "al-agent:1",
    command: ["al", "_remote-run", "dev", "--project", "/workspace"],
    env: { AL_INSTANCE: instanceId },
    ticket: secretTicket,
    limits: { memory: "512m", cpus: 0.5, network: "none" },
    reserve: { memory: "256m", cpus: 0.1 },
    place: [],
    ...over,
  };
}

/** The one run of an engine once it is as it should be. */
export async function runOnce(
  engine: ClusterEngine,
  isRight: (run: PlacedRun | undefined) => boolean,
): Promise<PlacedRun | undefined> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const [run] = await engine.list();
    if (isRight(run)) return run;
    if (performance.now() > deadline) throw new Error(`it is ${JSON.stringify(run)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
