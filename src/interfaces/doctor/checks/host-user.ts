import { lstat } from "node:fs/promises";
import { userInfo } from "node:os";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { runtimes } from "../../../../streams/runtimes.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { shareBaseDir, whyUnsafe } from "../../../runtime/runners/host-user/base-dir.ts";
import { isOwnUser } from "../../../runtime/runners/host-user/supervisor-process.ts";
import type { Check, Finding } from "../finding.ts";
import { agentNames, finding, note } from "../finding.ts";
import { checkAccount } from "../host-user/account.ts";
import { enabledAgents } from "../doctor-context.ts";
import type { DoctorContext } from "../doctor-context.ts";

/** Whether agents can run as their OS users, and which agents are isolated from each other. */
export const hostUser: Check = async (context) => {
  const agents = enabledAgents(context).filter(({ runtime }) => runtimes[runtime.type].runsAsUser);
  const own = agents.filter(({ runtime }) => isOwnUser(runtime.runAs));
  const others = Map.groupBy(
    agents.filter((agent) => !own.includes(agent)),
    ({ runtime }) => runtime.runAs,
  );
  const accounts = await Promise.all(
    [...others.keys()].map((runAs) => checkAccount(runAs, context)),
  );
  const folder = agents.length === 0 ? [] : await checkRunsDir(context);
  return [...unprotected(own), ...accounts.flat(), ...folder, ...[...others].flatMap(shared)];
};

function unprotected(agents: readonly AgentConfig[]): Finding[] {
  if (agents.length === 0) return [];
  const names = agentNames(agents.map(({ name }) => name));
  const text = `nothing keeps ${names} from your own files and from the scheduler's secrets`;
  const fix = 'for agents that you don\'t trust: type = "container", or an OS user of their own';
  return [note(text, fix)];
}

function shared([runAs, agents]: readonly [string, readonly AgentConfig[]]): Finding[] {
  if (agents.length < 2) return [];
  const text = `${namesOf(agents)} share the OS user ${runAs}: each can see what the others' runs do`;
  return [note(text, "give each a run_as of its own to keep them apart")];
}

function namesOf(agents: readonly AgentConfig[]): string {
  return agents.map(({ name }) => name).join(", ");
}

/** Whether host users' runs can work in their folder: its owner could swap its contents. */
async function checkRunsDir({ runsDir }: DoctorContext): Promise<Finding[]> {
  const stats = await lstat(runsDir).catch(() => null);
  // The first run creates the folder.
  if (stats === null) return [];
  const why = stats.isSymbolicLink() ? "is a link" : whyUnsafe(stats);
  if (why === null) return [];
  const text = `the folder of runs ${why}, so no run can work in it`;
  const repair = stats.isDirectory() ? shareBaseDir(runsDir) : `rm ${shellWord(runsDir)}`;
  const fix = userInfo().uid === 0 ? repair : `sudo ${repair}`;
  return [finding("error", text, runsDir, fix)];
}
