import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { networkOf } from "../../../../streams/run-network.ts";
import type { ProjectNetwork, RunNetwork } from "../../../../streams/run-network.ts";
import { runtimes } from "../../../../streams/runtimes.ts";
import { findNetworkTools } from "../../../runtime/runners/host-user/closed-network.ts";
import { findIsolation } from "../../../runtime/runners/host-user/isolation.ts";
import { isOwnUser } from "../../../runtime/runners/host-user/supervisor-process.ts";
import { enabledAgents } from "../doctor-context.ts";
import type { DoctorContext } from "../doctor-context.ts";
import type { Check, Finding } from "../finding.ts";
import { isRoot } from "../host-user/system.ts";

/** Whether this machine closes the network of host users' runs. */
export const closedNetwork: Check = {
  name: "closed network",
  run: async (context) => {
    const { project, env } = context;
    const agents = enabledAgents(context).filter(canBeChecked);
    if (project === null || agents.every((agent) => networkOf(agent, project) === "open"))
      return [];
    const { notClosed, unknown } = await findIsolation(env, "closed");
    if (unknown !== null) return [unknownFinding(unknown)];
    return notClosed === null ? [] : notClosedFindings(agents, project, notClosed, context);
  },
};

function unknownFinding(where: string): Finding {
  const what =
    "whether networks of host users' runs can be closed is unknown: until it is, none starts";
  const fix =
    "see what this OS user or the machine has used up: namespaces, processes, open files, memory";
  return { severity: "error", what, where, fix };
}

/** For host users' agents on a machine where no network can be closed, and why. */
export function notClosedFindings(
  agents: readonly AgentConfig[],
  project: ProjectNetwork,
  where: string,
  context: Pick<DoctorContext, "env" | "platform">,
): Finding[] {
  const fix = fixFor(context);
  const withNetwork = (network: RunNetwork) =>
    agents.filter((agent) => networkOf(agent, project) === network);
  return [
    ...refused(withNetwork("closed")).map((what): Finding => ({
      severity: "error",
      what,
      where,
      fix,
    })),
    ...opened(withNetwork("closed-if-possible")).map((what): Finding => ({
      severity: "warning",
      what,
      where,
      fix,
    })),
  ];
}

/** What root may do does not show what another user may: runs of that one log it. */
function canBeChecked({ runtime: { type, runAs } }: AgentConfig): boolean {
  return runtimes[type].runsAsUser && (isOwnUser(runAs) || !isRoot());
}

function refused(agents: readonly AgentConfig[]): string[] {
  if (agents.length === 0) return [];
  return [
    `no run of ${namesOf(agents)} starts: it has [network], and a host user's network can't be closed here`,
  ];
}

function opened(agents: readonly AgentConfig[]): string[] {
  if (agents.length === 0) return [];
  return [
    `the network of ${namesOf(agents)} is open, as a host user's network can't be closed here: runs reach what this machine reaches`,
  ];
}

function namesOf(agents: readonly AgentConfig[]): string {
  return agents.map(({ name }) => name).join(", ");
}

const container = 'or use a container (type = "container")';

function fixFor({ env, platform }: Pick<DoctorContext, "env" | "platform">): string {
  if (platform !== "linux") return "only Linux closes networks of host users: use a container";
  const tools = findNetworkTools(env);
  if (typeof tools === "string") return `${tools}, ${container}`;
  return `let users have namespaces of their own (Ubuntu: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0), ${container}`;
}
