import { access } from "node:fs/promises";
import { join } from "node:path";
import { runtimes } from "../../../../streams/runtimes.ts";
import type { ClusterConfig } from "../../../foundation/config/cluster-place.ts";
import { registryLogin } from "../../../runtime/cluster/images/registry-login.ts";
import { doorIdentity } from "../../../runtime/cluster/door/door-identity.ts";
import { alCommand, finding, note, ofError, ok, type Check, type Finding } from "../finding.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import { kubernetesFindings } from "./kubernetes.ts";
import { askEngine, assertManager } from "../../../runtime/cluster/swarm/ask-engine.ts";
import { connectEngine, type Engine } from "../../../runtime/runners/container/engine.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { missingBase } from "./engine.ts";

const where = "config.toml [cluster]";

/** Whether runs can be started on other machines, and reach this scheduler from there. */
export const cluster: Check = async (context) => {
  const config = context.project?.cluster ?? null;
  if (config === null) return [];
  const { findings, hasOneMachine } = await clusterEngineFindings(config, context);
  return [
    ...addressFindings(config, context),
    ...(await identityFindings(context)),
    ...findings,
    ...(await imageFindings(config, hasOneMachine, context)),
  ];
};

/** On another machine these addresses mean that machine, or none. */
const noAddress = /^(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0|\[::\]):\d+$/;

function addressFindings({ address }: ClusterConfig, context: DoctorContext): Finding[] {
  if (!noAddress.test(address))
    return [
      ok(`runs connect to the scheduler at ${address}; the first run shows whether they reach it`),
    ];
  const port = address.slice(address.lastIndexOf(":") + 1);
  const text = `no other machine reaches this scheduler at ${address}`;
  const fix = alCommand(context, `config --set cluster.address=<this machine's address>:${port}`);
  return [finding("error", text, where, fix)];
}

/** The first start creates an identity. */
async function identityFindings({ projectDir }: DoctorContext): Promise<Finding[]> {
  const path = join(projectDir, ".al", "door.pem");
  try {
    await access(path);
  } catch {
    return [
      note("the certificate that identifies the scheduler to runs is created when it starts"),
    ];
  }
  try {
    await doorIdentity(path);
    return [ok("a certificate identifies the scheduler to runs")];
  } catch (error) {
    return [ofError(error, "error", path)];
  }
}

async function imageFindings(
  { image, registry }: ClusterConfig,
  hasOneMachine: boolean,
  context: DoctorContext,
): Promise<Finding[]> {
  if (image !== null)
    return [note(`machines load the image ${image}`), ...unusable(image, context)];
  if (registry !== null) return [await registryFinding(registry, context)];
  if (hasOneMachine) return [ok("images are built on the engine of the runs")];
  const text = "images are built on one machine, and all others must have them already";
  const fix = alCommand(context, "config --set cluster.registry=<registry>/<path>");
  return [finding("warning", text, where, fix)];
}

function unusable(image: string, context: DoctorContext): Finding[] {
  const own = enabledAgents(context).filter(
    ({ runtime, dockerfileHash }) => runtimes[runtime.type].isRemote && dockerfileHash !== null,
  );
  return own.map(({ name }) =>
    finding(
      "error",
      `runs of ${name} don't start: it has a Dockerfile, but runs in the cluster use the image ${image}`,
      `agents/${name}/Dockerfile`,
      `remove it, or ${alCommand(context, `config ${name} --set runtime.type=container`)}`,
    ),
  );
}

async function registryFinding(registry: string, { env }: DoctorContext): Promise<Finding> {
  try {
    const login = await registryLogin(`${registry}/al-agent`, env);
    const how = login === undefined ? "without a login" : "with this user's login";
    return ok(`images are pushed to ${registry} ${how}`);
  } catch (error) {
    return ofError(error, "error", where);
  }
}

const callTimeoutMs = 10_000;

/** Whether the engine of the cluster answers, and has machines that take runs. `hasOneMachine`: it builds their images. */
async function clusterEngineFindings(config: ClusterConfig, context: DoctorContext) {
  if (config.engine === "kubernetes") {
    return { findings: await kubernetesFindings(config.namespace), hasOneMachine: false };
  }
  const engine = connectEngine({ env: context.env, callTimeoutMs });
  try {
    const nodes = await askEngine(engine, async () => {
      await assertManager(engine);
      return (await engine.calls().listNodes()) as readonly SwarmNode[];
    });
    const base = config.image === null ? (context.project?.local.base ?? null) : null;
    return {
      findings: [...nodeFindings(nodes, engine), ...(await missingBase(engine, context, base))],
      hasOneMachine: nodes.length === 1,
    };
  } catch (error) {
    return { findings: [ofError(error, "error", engine.address())], hasOneMachine: false };
  }
}

/** The part of a node that is used. */
interface SwarmNode {
  readonly Description: { readonly Hostname: string };
  readonly Status: { readonly State: string };
  readonly Spec: { readonly Availability: string };
}

function nodeFindings(nodes: readonly SwarmNode[], engine: Engine): readonly Finding[] {
  const ready = nodes.filter(
    ({ Status, Spec }) => Status.State === "ready" && Spec.Availability === "active",
  );
  const others = nodes.filter((node) => !ready.includes(node));
  const severity = ready.length === 0 ? "error" : "warning";
  return [
    ...(ready.length === 0
      ? []
      : [ok(`${counted(ready.length, "machine")} of the Swarm accept runs`)]),
    ...others.map(({ Description: { Hostname }, Status, Spec }): Finding => {
      const text = `the machine ${Hostname} accepts no runs: it is ${stateOf(Status.State, Spec.Availability)}`;
      const fix = `see docker node ls; docker node update --availability active ${Hostname} lets it accept runs`;
      return finding(severity, text, engine.address(), fix);
    }),
  ];
}

function stateOf(state: string, availability: string): string {
  return state === "ready" ? availability : state;
}
