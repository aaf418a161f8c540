import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { networkOf } from "../../../../streams/run-network.ts";
import { parseGitAddress } from "../../../foundation/contracts/git-names.ts";
import { enabledAgents } from "../doctor-context.ts";
import { finding, ok, type Check, type Finding } from "../finding.ts";
import { findProgram } from "../../../runtime/wire/find-program.ts";

/** Whether the scheduler has git, and whether it reads the refs that runs push. */
export const workspace: Check = async (context) => {
  const { project, env } = context;
  const agents = enabledAgents(context).filter((agent) => agent.workspace !== null);
  if (agents.length === 0 || project === null) return [];
  const isMissing = (await findProgram("git", ownUser, env)) === "missing";
  const fix = "install git on the scheduler's machine";
  const found = isMissing
    ? finding("error", "git is missing, which fetches the repositories of [workspace]", null, fix)
    : ok("git fetches the repositories of [workspace]");
  const unread = agents.flatMap((agent) => {
    const why = whyUnread(agent, networkOf(agent, project) === "open");
    return why === null ? [] : [unreadFinding(agent, why)];
  });
  return [found, ...unread];
};

const ownUser = "$USER";

/** Why pushes of the agent's runs are not read; null if they are, or if the agent has no credential to push with. */
function whyUnread({ workspace: own, credentials }: AgentConfig, isOpen: boolean): string | null {
  if (own === null || credentials.length === 0) return null;
  const protocol = parseGitAddress(own.git.replaceAll(/\{\w+\}/g, "a"))?.protocol;
  if (protocol === "ssh") return "git pushes over SSH";
  return isOpen ? "its network is open" : null;
}

function unreadFinding({ name }: AgentConfig, why: string): Finding {
  const text = `[workspace].push does not limit the runs of ${name}, because ${why}`;
  const where = `agents/${name}/config.toml [workspace]`;
  return finding("note", text, where, "protect the branches at the host");
}
