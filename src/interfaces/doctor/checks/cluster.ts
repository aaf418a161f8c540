import { access } from "node:fs/promises";
import { join } from "node:path";
import { runtimes } from "../../../../streams/runtimes.ts";
import type { ClusterConfig } from "../../../foundation/contracts/cluster.ts";
import { registryLogin } from "../../../runtime/cluster/images/registry-login.ts";
import { doorIdentity } from "../../../runtime/cluster/door/door-identity.ts";
import { alCommand, note, ofError, ok } from "../finding.ts";
import type { Check, Finding } from "../finding.ts";
import { enabledAgents } from "../doctor-context.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { clusterEngineFindings } from "./cluster-engine.ts";

const where = "config.toml [cluster]";

/** Whether runs can be started on other machines, and reach this scheduler from there. */
export const cluster: Check = {
  name: "cluster",
  run: async (context) => {
    const config = context.project?.cluster ?? null;
    if (config === null) return [];
    return [
      ...addressFindings(config, context),
      ...(await identityFindings(context)),
      ...(await clusterEngineFindings(config, context)),
      ...(await imageFindings(config, context)),
    ];
  },
};

/** On another machine these are that machine, or none. */
const noAddress = /^(localhost|127\.[\d.]+|\[::1\]|0\.0\.0\.0|\[::\]):\d+$/;

function addressFindings({ address }: ClusterConfig, context: DoctorContext): Finding[] {
  if (!noAddress.test(address))
    return [
      ok(`runs look for the scheduler at ${address}; the first one shows whether they reach it`),
    ];
  const port = address.slice(address.lastIndexOf(":") + 1);
  const what = `no other machine reaches this scheduler at ${address}`;
  const fix = alCommand(context, `config --set cluster.address=<this machine's address>:${port}`);
  return [{ severity: "error", what, where, fix }];
}

/** One is made by the first start. */
async function identityFindings({ projectDir }: DoctorContext): Promise<Finding[]> {
  const path = join(projectDir, ".al", "door.pem");
  try {
    await access(path);
  } catch {
    return [note("the certificate by which runs know the scheduler is made when it starts")];
  }
  try {
    await doorIdentity(path);
    return [ok("runs know the scheduler by its certificate")];
  } catch (error) {
    return [ofError(error, "error", path)];
  }
}

async function imageFindings(config: ClusterConfig, context: DoctorContext): Promise<Finding[]> {
  const { image, registry, engine } = config;
  if (image !== null)
    return [note(`machines load the image ${image}`), ...unusable(image, context)];
  if (registry !== null) return [await registryFinding(registry, context)];
  if (engine === "docker") return [ok("images are built on the engine of the runs")];
  const what = "images are built on one machine, and each other one must have them already";
  const fix = alCommand(context, "config --set cluster.registry=<registry>/<path>");
  return [{ severity: "warning", what, where, fix }];
}

function unusable(image: string, context: DoctorContext): Finding[] {
  const own = enabledAgents(context).filter(
    ({ runtime, dockerfileHash }) => runtimes[runtime.type].isRemote && dockerfileHash !== null,
  );
  return own.map(({ name }) => ({
    severity: "error",
    what: `runs of ${name} don't start: it has a Dockerfile, and runs in the cluster have the image ${image}`,
    where: `agents/${name}/Dockerfile`,
    fix: `remove it, or ${alCommand(context, `config ${name} --set runtime.type=container`)}`,
  }));
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
