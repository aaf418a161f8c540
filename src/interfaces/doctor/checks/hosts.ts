import type { AgentConfig } from "../../../../streams/agent-config.ts";
import { counted } from "../../../foundation/contracts/format.ts";
import { hostAndPort } from "../../../foundation/contracts/host-and-port.ts";
import { allowCommand, missingEntry } from "../../../foundation/contracts/missing-entry.ts";
import { deniedDays } from "../../../foundation/contracts/run-hosts.ts";
import type { DeniedHost } from "../../../foundation/contracts/run-hosts.ts";
import { allowList } from "../../../foundation/credentials/allowed-hosts.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { readBeside } from "../../../foundation/store/read-beside.ts";
import { deniedTo } from "../../../foundation/store/run-hosts.ts";
import { enabledAgents } from "../doctor-context.ts";
import type { DoctorContext } from "../doctor-context.ts";
import { alCommand } from "../finding.ts";
import type { Check, Finding } from "../finding.ts";

const dayMs = 86_400_000;
/** How many hosts of an agent are shown; the rest is counted. */
const shownHosts = 5;

/** Hosts that runs asked for, and may not reach by now either. */
export const hosts: Check = {
  name: "hosts",
  run: async (context) => {
    const found = await Promise.all(enabledAgents(context).map((agent) => ofAgent(agent, context)));
    return found.flat();
  },
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
  return {
    severity: "warning",
    what: `${agent} asked for ${hostAndPort(denied)} ${times} in ${deniedDays} days and was denied it`,
    where: `agents/${agent}/config.toml [network]`,
    fix: `if it needs it: ${alCommand(context, allowCommand(agent, entry).slice("al ".length))}`,
  };
}

function moreFinding(agent: string, more: number, context: DoctorContext): Finding {
  return {
    severity: "warning",
    what: `${agent} was denied ${counted(more, "more host")}`,
    where: `agents/${agent}/config.toml [network]`,
    fix: `see all with: ${alCommand(context, `logs ${agent}`)}`,
  };
}
