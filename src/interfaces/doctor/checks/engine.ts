import { counted } from "../../../foundation/contracts/format.ts";
import { existsSync, readFileSync } from "node:fs";
import { needsImage, type AgentConfig } from "../../../../streams/agent-config.ts";
import { runtimes } from "../../../../streams/runtimes.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import {
  connectEngine,
  statusOf,
  remoteEngineProblem,
} from "../../../runtime/runners/container/engine.ts";
import type { Engine } from "../../../runtime/runners/container/engine.ts";
import { defaultImageTag } from "../../../runtime/runners/container/image/default-image.ts";
import {
  defaultImage,
  inspectImage,
} from "../../../runtime/runners/container/image/engine-images.ts";
import { installedProgram } from "../../../runtime/runners/container/image/program.ts";
import { programDir } from "../../../foundation/version.ts";
import {
  projectId,
  projectLabel,
  instanceLabel,
} from "../../../runtime/runners/container/labels.ts";
import { alCommand, finding, note, ofError, ok, type Check, type Finding } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";

/** How long the engine may take to answer before it counts as missing, in ms. */
const callTimeoutMs = 10_000;

/** Whether the container engine has the images, networks and processors that agents in containers need. */
export const engine: Check = async (context) => {
  const { project, env } = context;
  const inside = agentsInContainers(context);
  if (project === null || inside.length === 0) return [];
  const connected = connectEngine({ env, callTimeoutMs });
  try {
    const problem = remoteEngineProblem(env, project.cluster !== null);
    if (problem !== null) throw problem;
    const version = await connected.version();
    const { local } = project;
    return [
      ok(`version ${version} at ${connected.address()}`),
      ...(await imageFindings(connected, context, local)),
      ...(await limitFindings(connected, context, local, inside)),
    ];
  } catch (error) {
    const names = inside.map(({ name }) => name).join(", ");
    return [ofError(error, "error", `${connected.address()}, for ${names}`)];
  }
};

/** Agents whose runs are containers of this machine. */
function agentsInContainers({ agents }: DoctorContext) {
  return agents.filter((agent) => needsImage(agent) && !runtimes[agent.runtime.type].isRemote);
}

/** On such a machine the engine may label containers so that they can't connect to the sockets of their runs. */
export const selinux: Check = (context) => {
  const isEnforcing =
    existsSync(context.selinux) && readFileSync(context.selinux, "utf8").trim() === "1";
  if (!isEnforcing || agentsInContainers(context).length === 0) return [];
  const what = "SELinux is enforcing, and may deny containers their connection to the scheduler";
  return [note(what, allowDenied)];
};

const allowDenied =
  "if a run can't connect to /run/al/channel.sock: sudo ausearch -m avc -ts recent | audit2allow -M almanac && sudo semodule -i almanac.pp, again until a run succeeds";

type Local = ProjectConfig["local"];
const where = "config.toml [local]";

/** A custom base image is never pulled. */
export async function missingBase(
  connected: Engine,
  context: DoctorContext,
  base: string | null,
): Promise<Finding[]> {
  if (base === null || (await inspectImage(connected, base)) !== null) return [];
  const instead = `build on another one: ${alCommand(context, "config --unset local.base")}`;
  return [missing(`the base image ${base} is not on this engine`, base, instead)];
}

async function imageFindings(
  connected: Engine,
  context: DoctorContext,
  { image, base }: Local,
): Promise<Finding[]> {
  const withoutBase = await missingBase(connected, context, base);
  if (withoutBase.length > 0) return withoutBase;
  if (image === defaultImage) return [await defaultFinding(connected, base)];
  const there = await inspectImage(connected, image);
  const instead = `use the default one: ${alCommand(context, "config --unset local.image")}`;
  if (there === null) return [missing(`the image ${image} is not on this engine`, image, instead)];
  if (!isOfAnotherProject(there, context.projectDir)) return [ok(`image ${image}`)];
  const fix = `build one of your own FROM ${defaultImage}, or ${instead}`;
  return [finding("warning", anotherProjects(image), where, fix)];
}

/** Several images may be called `latest` on one engine; each project uses the one with its contents. */
async function defaultFinding(connected: Engine, base: string | null): Promise<Finding> {
  const dir = programDir();
  const program = () => installedProgram(dir);
  const sources = { engine: connected, programDir: dir, program, builtByItself: defaultImage };
  const tag = await defaultImageTag(sources, base);
  if ((await inspectImage(connected, tag)) !== null) return ok(`image ${tag}`);
  const latest = await inspectImage(connected, defaultImage);
  const other =
    latest === null ? "" : `; ${defaultImage} belongs to another project or another version`;
  return note(`image ${tag} is built when the scheduler starts${other}`);
}

function missing(text: string, image: string, instead: string): Finding {
  return finding("error", text, where, `docker pull ${shellWord(image)}, or ${instead}`);
}

/** Whether an image was built for an agent of another project. */
export function isOfAnotherProject(
  { labels }: { readonly labels: Readonly<Record<string, string | undefined>> },
  projectDir: string,
): boolean {
  const project = labels[projectLabel];
  return project !== undefined && project !== projectId(projectDir);
}

/** Reports that the image of this name is another project's. */
export function anotherProjects(image: string): string {
  return `the image ${image} was built for an agent of another project, which removes it when it builds a newer one`;
}

/** A `[local]` used for the containers of some agents. */
interface Setting<Value> {
  readonly value: Value;
  readonly where: string;
  /** The words between `al` and the key. */
  readonly command: string;
}

/** Whether the engine can create containers with the limits of the project and of its agents. */
async function limitFindings(
  engine: Engine,
  context: DoctorContext,
  local: ProjectConfig["local"],
  agents: readonly AgentConfig[],
): Promise<Finding[]> {
  const { NCPU: there } = (await engine.calls().info()) as { NCPU: number };
  const cpus = settings(local.cpus, agents, (own) => own.cpus);
  const networks = settings(local.network, agents, (own) => own.network);
  const missing = networks.map((setting) => networkFindings(engine, context, setting));
  return [
    ...cpus.filter(({ value }) => value > there).map((setting) => tooMany(setting, there, context)),
    ...(await Promise.all(missing)).flat(),
  ];
}

/** The project's value applies only to agents without their own. */
function settings<Value>(
  shared: Value,
  agents: readonly AgentConfig[],
  ownOf: (local: AgentConfig["local"]) => Value | null,
): Setting<Value>[] {
  const own = agents.flatMap(({ name, local }): Setting<Value>[] => {
    const value = ownOf(local);
    const where = `agents/${name}/config.toml [local]`;
    return value === null ? [] : [{ value, where, command: `config ${name}` }];
  });
  const project = { value: shared, where: "config.toml [local]", command: "config" };
  return own.length < agents.length ? [project, ...own] : own;
}

/** The engine rejects a container with more processors than exist. */
function tooMany(
  { value, where, command }: Setting<number>,
  there: number,
  context: DoctorContext,
): Finding {
  const text = `an agent may use ${value} processors, and the engine has ${there}`;
  const fix = alCommand(context, `${command} --set local.cpus=${there}`);
  return finding("error", text, where, fix);
}

async function networkFindings(
  engine: Engine,
  context: DoctorContext,
  { value, where, command }: Setting<string>,
): Promise<Finding[]> {
  // A container without a network needs no network of this name, and some engines lack it.
  if (value === "none") return [];
  try {
    await engine.calls().getNetwork(value).inspect();
    return [];
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    const text = `the engine has no network ${value}`;
    const instead = alCommand(context, `${command} --unset local.network`);
    const fix = `docker network create ${shellWord(value)}, or use the default one: ${instead}`;
    return [finding("error", text, where, fix)];
  }
}

const listTimeoutMs = 5000;

/** Whether a dead scheduler left containers of its runs. */
export const containers: Check = async (context) => {
  const { env, projectDir, scheduler } = context;
  if (scheduler !== null) return [];
  const engine = connectEngine({ env, callTimeoutMs: listTimeoutMs });
  const label = [`${projectLabel}=${projectId(projectDir)}`, instanceLabel];
  const list = engine.calls().listContainers({ all: true, filters: { label } });
  // Whether the engine can be reached is the engine's check.
  const left = await list.catch(() => null);
  if (left === null) return [];
  if (left.length === 0) return [ok("none are left over")];
  const names = left.map(({ Id, Labels }) => Labels[instanceLabel] ?? Id.slice(0, 12));
  const text = `${counted(left.length, "container")} left by runs of an earlier scheduler: ${names.join(", ")}`;
  const isTakenOver = context.agents.some(needsImage);
  const fix = isTakenOver
    ? `${alCommand(context, "start")}, which adopts running ones and removes the others`
    : `docker rm --force ${left.map(({ Id }) => Id.slice(0, 12)).join(" ")}`;
  return [finding("warning", text, engine.address(), fix)];
};
