import { expect, onTestFinished } from "vitest";
import { runName } from "../../../../src/runtime/cluster/cluster-engine.ts";
import type { Launch, PlacedRun } from "../../../../src/runtime/cluster/cluster-engine.ts";
import { createKubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import type { KubernetesEngine } from "../../../../src/runtime/cluster/kubernetes/kubernetes-engine.ts";
import { functionPods } from "../../../helpers/kubernetes/function-pods.ts";
import type { FunctionPods } from "../../../helpers/kubernetes/function-pods.ts";
import { startSmallCluster } from "../../../helpers/kubernetes/small-cluster.ts";
import type {
  SmallCluster,
  SmallClusterOptions,
} from "../../../helpers/kubernetes/small-cluster.ts";

export const project = "0123456789abcdef";

export interface EngineTest {
  readonly engine: KubernetesEngine;
  readonly cluster: SmallCluster;
  readonly pods: FunctionPods;
  /** Another scheduler of the same project. */
  readonly another: () => KubernetesEngine;
}

/** An engine over a small cluster whose pods are functions of the test. */
export async function engineTest(
  options: Partial<SmallClusterOptions> & { readonly address?: string } = {},
): Promise<EngineTest> {
  const pods = functionPods();
  const { address = "127.0.0.1:8443", ...ofCluster } = options;
  const cluster = await startSmallCluster({ start: pods.start, secondMs: 50, ...ofCluster });
  const engines: KubernetesEngine[] = [];
  const another = () => {
    const config = { address, namespace: null };
    const engine = createKubernetesEngine({ config, project, kubeconfig: cluster.kubeconfig });
    engines.push(engine);
    return engine;
  };
  onTestFinished(async () => {
    for (const engine of engines) engine.close();
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
  engine: KubernetesEngine,
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
