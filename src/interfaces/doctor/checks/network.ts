import type { AgentConfig, NetworkConfig } from "../../../../streams/agent-config.ts";
import { networkOf } from "../../../../streams/run-network.ts";
import type { ProjectConfig } from "../../../foundation/config/project-config.ts";
import { parseCredentialReference } from "../../../foundation/contracts/credential-reference.ts";
import {
  allowedHosts,
  allowCommand,
  missingEntry,
} from "../../../foundation/contracts/network-allow.ts";
import { enabledAgents, type DoctorContext } from "../doctor-context.ts";
import { alCommand, finding, note, type Check, type Finding } from "../finding.ts";
import type { ProjectNetwork, RunNetwork } from "../../../../streams/run-network.ts";
import { runtimes } from "../../../../streams/runtimes.ts";
import { findNetworkTools } from "../../../runtime/runners/host-user/closed-network.ts";
import { probeClosing } from "../../../runtime/runners/host-user/isolation.ts";
import { isOwnUser } from "../../../runtime/wire/supervisor-process.ts";
import { isRoot } from "./host-user.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { hostAndPort } from "../../../foundation/contracts/deny-reasons.ts";
import { deniedDays, type DeniedHost } from "../../../foundation/contracts/run-hosts.ts";
import { allowList } from "../../../foundation/credentials/allowed-hosts.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { readBeside } from "../../../foundation/store/read-beside.ts";
import { deniedTo } from "../../../foundation/store/run-hosts.ts";

/** Which agents reach more than `[network]` allows, and which of its entries do nothing or open a private network. */
export const network: Check = (context) => {
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

/** The agent's own setting is removed if the project closes the network. */
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
  const text = `the network of ${names} is open (network = ${JSON.stringify(value)}): their runs reach hosts that [network].allow does not list, and contain the secrets of their credentials`;
  return finding("warning", text, where, fix);
}

function unusedCredentials(project: ProjectConfig, { agents }: DoctorContext): Finding[] {
  const listed = agents
    .flatMap(({ credentials }) => credentials)
    .map(parseCredentialReference)
    .filter((reference) => reference !== null)
    .flatMap(({ type, instance }) => [type, `${type}:${instance}`]);
  return Object.keys(project.network?.credentials ?? {})
    .filter((name) => !listed.includes(name))
    .map((name) =>
      finding(
        "warning",
        `no agent lists the credential ${name}, so nothing is bound to these hosts`,
        `config.toml [network.credentials] ${name}`,
        `remove the line, or list ${name} in the credentials of an agent`,
      ),
    );
}

function privateHosts(config: NetworkConfig | null, file: string): Finding[] {
  const hosts = allowedHosts(config?.allow ?? []).filter(({ isPrivate }) => isPrivate);
  if (hosts.length === 0) return [];
  const names = hosts.map(
    ({ host, isWildcard, port }) => `${isWildcard ? "*." : ""}${host}:${port}`,
  );
  return [note(`${file} [network] opens hosts of private networks: ${names.join(", ")}`)];
}

/** Whether this machine closes the network of host users' runs. */
export const closedNetwork: Check = async (context) => {
  const { project, env } = context;
  const agents = enabledAgents(context).filter(canBeChecked);
  if (project === null || agents.every((agent) => networkOf(agent, project) === "open")) return [];
  const found = await probeClosing(env);
  if (found.kind === "unknown") return [unknownFinding(found.why)];
  return found.kind === "unclosable" ? notClosedFindings(agents, project, found.why, context) : [];
};

function unknownFinding(where: string): Finding {
  const text =
    "it is unknown whether networks of host users' runs can be closed: no such run starts until it is known";
  const fix =
    "check what this OS user or the machine has used up: namespaces, processes, open files, memory";
  return finding("error", text, where, fix);
}

type Machine = Pick<DoctorContext, "env" | "platform">;

/** For host users' agents on a machine where no network can be closed, and why. */
export function notClosedFindings(
  agents: readonly AgentConfig[],
  project: ProjectNetwork,
  where: string,
  context: Machine,
): Finding[] {
  const fix = fixFor(context);
  const namesWith = (network: RunNetwork): string =>
    agents
      .filter((agent) => networkOf(agent, project) === network)
      .map(({ name }) => name)
      .join(", ");
  const [refused, opened] = [namesWith("closed"), namesWith("closed-if-possible")];
  const noRun = `no run of ${refused} starts: it has [network], and a host user's network can't be closed here`;
  const open = `the network of ${opened} is open, because a host user's network can't be closed here: runs reach what this machine reaches`;
  return [
    ...(refused === "" ? [] : [finding("error", noRun, where, fix)]),
    ...(opened === "" ? [] : [finding("warning", open, where, fix)]),
  ];
}

/** Root's privileges do not show another user's: runs of that user log it. */
function canBeChecked({ runtime: { type, runAs } }: AgentConfig): boolean {
  return runtimes[type].runsAsUser && (isOwnUser(runAs) || !isRoot());
}

const container = 'or use a container (type = "container")';

function fixFor({ env, platform }: Machine): string {
  if (platform !== "linux") return "only Linux can close networks of host users: use a container";
  const tools = findNetworkTools(env);
  if (typeof tools === "string") return `${tools}, ${container}`;
  return `let users have namespaces of their own (Ubuntu: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0), ${container}`;
}

const dayMs = 86_400_000;
/** How many hosts of an agent are shown; the rest is counted. */
const shownHosts = 5;

/** Hosts that runs requested, and that are still not allowed. */
export const hosts: Check = async (context) => {
  const found = await Promise.all(enabledAgents(context).map((agent) => ofAgent(agent, context)));
  return found.flat();
};

async function ofAgent(agent: AgentConfig, context: DoctorContext): Promise<readonly Finding[]> {
  const { project, projectDir, home } = context;
  if (project === null) return [];
  const since = Date.now() - deniedDays * dayMs;
  const denied = readBeside(projectDir, (db) => deniedTo(db, agent.name, since), []);
  if (denied.length === 0) return [];
  const allow = await allowList(agent, project.network, (reference) =>
    loadCredential(home, reference),
  );
  const missing = denied.flatMap((one) => {
    const entry = missingEntry(one, allow);
    return entry === null ? [] : [{ one, entry }];
  });
  const findings = missing
    .slice(0, shownHosts)
    .map(({ one, entry }) => deniedFinding(agent.name, one, entry, context));
  const more = missing.length - findings.length;
  return more > 0 ? [...findings, moreFinding(agent.name, more, context)] : findings;
}

function deniedFinding(
  agent: string,
  denied: DeniedHost,
  entry: string,
  context: DoctorContext,
): Finding {
  const times = counted(denied.attempts, "time");
  return finding(
    "warning",
    `${agent} requested ${hostAndPort(denied)} ${times} in ${deniedDays} days and was denied`,
    `agents/${agent}/config.toml [network]`,
    `if it needs it: ${alCommand(context, allowCommand(agent, entry).slice("al ".length))}`,
  );
}

function moreFinding(agent: string, more: number, context: DoctorContext): Finding {
  return finding(
    "warning",
    `${agent} was denied ${counted(more, "more host")}`,
    `agents/${agent}/config.toml [network]`,
    `see all with: ${alCommand(context, `logs ${agent}`)}`,
  );
}
