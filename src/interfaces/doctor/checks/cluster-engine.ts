import type { ClusterConfig } from "../../../foundation/contracts/cluster.ts";
import { createKubernetesEngine } from "../../../runtime/cluster/kubernetes/kubernetes-engine.ts";
import { askSwarm, assertManager } from "../../../runtime/cluster/swarm/ask-swarm.ts";
import { connectEngine } from "../../../runtime/runners/container/engine.ts";
import type { Engine } from "../../../runtime/runners/container/engine.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { ofError, ok } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { missingBase } from "./engine.ts";

const callTimeoutMs = 10_000;

/** Whether the engine of the cluster answers, and has machines that take runs. */
export async function clusterEngineFindings(
  config: ClusterConfig,
  context: DoctorContext,
): Promise<readonly Finding[]> {
  if (config.engine === "kubernetes") return kubernetesFindings(config);
  const engine = connectEngine({ env: context.env, callTimeoutMs });
  try {
    const version = await engine.ping();
    const found =
      config.engine === "docker"
        ? [ok(`version ${version} at ${engine.address()}`)]
        : await askSwarm(engine, () => swarmFindings(engine));
    const base = config.image === null ? (context.project?.local.base ?? null) : null;
    return [...found, ...(await missingBase(engine, context, base))];
  } catch (error) {
    return [ofError(error, "error", engine.address())];
  }
}

/** The part of a node that is used. */
interface SwarmNode {
  readonly Description: { readonly Hostname: string };
  readonly Status: { readonly State: string };
  readonly Spec: { readonly Availability: string };
}

async function swarmFindings(engine: Engine): Promise<readonly Finding[]> {
  await assertManager(engine);
  const nodes = (await engine.calls().listNodes()) as readonly SwarmNode[];
  const ready = nodes.filter(
    ({ Status, Spec }) => Status.State === "ready" && Spec.Availability === "active",
  );
  const others = nodes.filter((node) => !ready.includes(node));
  const severity = ready.length === 0 ? "error" : "warning";
  return [
    ...(ready.length === 0
      ? []
      : [ok(`${counted(ready.length, "machine")} of the Swarm take runs`)]),
    ...others.map(({ Description: { Hostname }, Status, Spec }): Finding => {
      const what = `the machine ${Hostname} takes no runs: it is ${stateOf(Status.State, Spec.Availability)}`;
      const fix = `see docker node ls; docker node update --availability active ${Hostname} lets it take runs`;
      return { severity, what, where: engine.address(), fix };
    }),
  ];
}

function stateOf(state: string, availability: string): string {
  return state === "ready" ? availability : state;
}

async function kubernetesFindings(config: ClusterConfig): Promise<readonly Finding[]> {
  const engine = createKubernetesEngine({ config, project: "doctor" });
  try {
    await engine.list();
    return [
      ok(
        "the API server answers, and this user may list Jobs and pods; the first run shows whether it may create them",
      ),
    ];
  } catch (error) {
    return [ofError(error, "error", "Kubernetes")];
  } finally {
    engine.close();
  }
}
