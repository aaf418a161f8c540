import type { AgentConfig, NetworkConfig } from "../../../../streams/agent-config.ts";
import { networkOf } from "../../../../streams/run-network.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { parseCredentialReference } from "../../../foundation/contracts/credential-reference.ts";
import { allowedHosts } from "../../../foundation/contracts/network-allow.ts";
import { enabledAgents } from "../doctor-context.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { alCommand, note } from "../finding.ts";
import type { Check, Finding } from "../finding.ts";

/** Which agents reach more than `[network]` allows, and which of its entries do nothing or open a private network. */
export const network: Check = {
  name: "network",
  run: (context) => {
    const { project } = context;
    if (project === null) return [];
    const agents = enabledAgents(context);
    const open = agents.filter((agent) => networkOf(agent, project) === "open");
    const closed = agents.filter((agent) => !open.includes(agent));
    return [
      ...openByProject(open, project, context),
      ...openByAgent(open, project, context),
      ...unusedCredentials(project, context),
      ...(closed.length === 0 ? [] : privateHosts(project.network, "config.toml")),
      ...closed.flatMap((agent) => privateHosts(agent.network, `agents/${agent.name}/config.toml`)),
    ];
  },
};

function openByProject(
  open: readonly AgentConfig[],
  { local }: ProjectConfig,
  context: DoctorContext,
): Finding[] {
  const names = open.filter((agent) => agent.local.network === null).map(({ name }) => name);
  if (names.length === 0) return [];
  const fix = alCommand(context, "config --unset local.network");
  return [openFinding(names.join(", "), local.network, "config.toml [local]", fix)];
}

/** The agent's own setting goes where the project's closes it. */
function openByAgent(
  open: readonly AgentConfig[],
  project: ProjectConfig,
  context: DoctorContext,
): Finding[] {
  const close =
    project.local.network === "none" ? "--unset local.network" : "--set local.network=none";
  return open.flatMap(({ name, local }) => {
    if (local.network === null) return [];
    const fix = alCommand(context, `config ${name} ${close}`);
    return [openFinding(name, local.network, `agents/${name}/config.toml [local]`, fix)];
  });
}

function openFinding(names: string, value: string, where: string, fix: string): Finding {
  const what = `the network of ${names} is open (network = ${JSON.stringify(value)}): their runs reach hosts that [network].allow does not list, and hold the secrets of their credentials`;
  return { severity: "warning", what, where, fix };
}

function unusedCredentials(project: ProjectConfig, { agents }: DoctorContext): Finding[] {
  const listed = agents
    .flatMap(({ credentials }) => credentials)
    .map(parseCredentialReference)
    .filter((reference) => reference !== null)
    .flatMap(({ type, instance }) => [type, `${type}:${instance}`]);
  return Object.keys(project.network?.credentials ?? {})
    .filter((name) => !listed.includes(name))
    .map((name) => ({
      severity: "warning",
      what: `no agent lists the credential ${name}, so nothing is bound to these hosts`,
      where: `config.toml [network.credentials] ${name}`,
      fix: `remove the line, or list ${name} in the credentials of an agent`,
    }));
}

function privateHosts(config: NetworkConfig | null, file: string): Finding[] {
  const hosts = allowedHosts(config?.allow ?? []).filter(({ isPrivate }) => isPrivate);
  if (hosts.length === 0) return [];
  const names = hosts.map(
    ({ host, isWildcard, port }) => `${isWildcard ? "*." : ""}${host}:${port}`,
  );
  return [note(`${file} [network] opens hosts of private networks: ${names.join(", ")}`)];
}
