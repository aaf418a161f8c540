import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { statusOf } from "../../../runtime/runners/container/engine.ts";
import type { Engine } from "../../../runtime/runners/container/engine.ts";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { Finding } from "../finding.ts";
import { alCommand } from "../finding.ts";
import type { DoctorContext } from "../doctor-context.ts";

/** A `[local]` that some agent's containers are created by. */
interface Setting<Value> {
  readonly value: Value;
  readonly where: string;
  /** What comes between `al` and the key. */
  readonly command: string;
}

/** Whether the engine can create containers with the limits of the project and of its agents. */
export async function limitFindings(
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

/** The project's counts only where an agent has none of its own. */
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

/** The engine refuses a container that may use more processors than there are. */
function tooMany(
  { value, where, command }: Setting<number>,
  there: number,
  context: DoctorContext,
): Finding {
  const what = `an agent may use ${value} processors, and the engine has ${there}`;
  const fix = alCommand(context, `${command} --set local.cpus=${there}`);
  return { severity: "error", what, where, fix };
}

async function networkFindings(
  engine: Engine,
  context: DoctorContext,
  { value, where, command }: Setting<string>,
): Promise<Finding[]> {
  // No engine needs one for a container without a network, and not each has one of that name.
  if (value === "none") return [];
  try {
    await engine.calls().getNetwork(value).inspect();
    return [];
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
    const what = `the engine has no network ${value}`;
    const instead = alCommand(context, `${command} --unset local.network`);
    const fix = `docker network create ${shellWord(value)}, or use the default one: ${instead}`;
    return [{ severity: "error", what, where, fix }];
  }
}
