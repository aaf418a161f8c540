import type { ProjectConfig } from "../../config/project-config.ts";
import { connectEngine, statusOf } from "../../runners/container/engine.ts";
import type { Engine } from "../../runners/container/engine.ts";
import { defaultImage, inspectImage } from "../../runners/container/image/default-image.ts";
import type { Check, Finding } from "../finding.ts";
import { note, ok } from "../finding.ts";
import { enabledAgents } from "../patient.ts";
import type { Patient } from "../patient.ts";
import { shellWord } from "../../contracts/shell-word.ts";
import { alCommand, ofError } from "../say.ts";

/** An engine that takes longer to answer is as good as none, in ms. */
const callTimeoutMs = 10_000;

/** Whether the container engine has what the agents that run in containers need. */
export const engine: Check = {
  name: "engine",
  look: async (patient) => {
    const { project, env } = patient;
    const inside = enabledAgents(patient).filter(({ runtime }) => runtime.type === "container");
    if (project === null || inside.length === 0) return [];
    const connected = connectEngine({ env, callTimeoutMs });
    try {
      const version = await connected.ping();
      const { local } = project;
      return [
        ok(`version ${version} at ${connected.address()}`),
        ...(await imageFindings(connected, patient, local)),
        ...(await limitFindings(connected, patient, local)),
        ...(await networkFindings(connected, patient, local)),
      ];
    } catch (error) {
      const names = inside.map(({ name }) => name).join(", ");
      return [ofError(error, "error", `${connected.address()}, for ${names}`)];
    }
  },
};

type Local = ProjectConfig["local"];
const where = "config.toml [local]";

async function imageFindings(
  connected: Engine,
  patient: Patient,
  { image, base }: Local,
): Promise<Finding[]> {
  const without = (key: string) => alCommand(patient, `config --unset local.${key}`);
  if (base !== null && (await inspectImage(connected, base)) === null) {
    const instead = `build on another one: ${without("base")}`;
    return [missing(`the image ${base} to build on is not on this engine`, base, instead)];
  }
  if ((await inspectImage(connected, image)) !== null) return [ok(`image ${image}`)];
  if (image === defaultImage) return [note(`image ${image} is built when the scheduler starts`)];
  const instead = `use the default one: ${without("image")}`;
  return [missing(`the image ${image} is not on this engine`, image, instead)];
}

function missing(what: string, image: string, instead: string): Finding {
  return { severity: "error", what, where, fix: `docker pull ${shellWord(image)}, or ${instead}` };
}

/** The engine refuses a container that may use more processors than there are. */
async function limitFindings(
  connected: Engine,
  patient: Patient,
  { cpus }: Local,
): Promise<Finding[]> {
  const { NCPU: there } = (await connected.calls().info()) as { NCPU: number };
  if (cpus <= there) return [];
  const what = `an agent may use ${cpus} processors, and the engine has ${there}`;
  const fix = alCommand(patient, `config --set local.cpus=${there}`);
  return [{ severity: "error", what, where, fix }];
}

async function networkFindings(
  connected: Engine,
  patient: Patient,
  { network }: Local,
): Promise<Finding[]> {
  try {
    await connected.calls().getNetwork(network).inspect();
    return [];
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    const what = `the engine has no network ${network}`;
    const instead = alCommand(patient, "config --unset local.network");
    const fix = `docker network create ${shellWord(network)}, or use the default one: ${instead}`;
    return [{ severity: "error", what, where, fix }];
  }
}
