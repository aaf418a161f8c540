import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { missingEntry } from "../../foundation/contracts/missing-entry.ts";
import { deniedDays } from "../../foundation/contracts/run-hosts.ts";
import type { AgentHosts } from "../../foundation/contracts/run-hosts.ts";
import { allowList } from "../../foundation/credentials/allowed-hosts.ts";
import type { Credential } from "../../foundation/credentials/load-credential.ts";
import type { StatusStore } from "../../runtime/scheduler/status-store.ts";
import type { Store } from "../../foundation/store/store.ts";
import { knownAgent } from "./runnable.ts";

export interface AgentHostsDeps {
  readonly status: Pick<StatusStore, "agent">;
  readonly hosts: Pick<Store["hosts"], "flush" | "deniedTo">;
  readonly project: () => Pick<ProjectConfig, "network">;
  /** Rejects when it is missing. */
  readonly credential: (reference: string) => Promise<Pick<Credential, "fields">>;
}

const dayMs = 86_400_000;

/** What an agent's runs were denied, each with the entry that it needs. Rejects with OperationError `unknown_agent`. */
export async function agentHosts(name: string, deps: AgentHostsDeps): Promise<AgentHosts> {
  const { config } = knownAgent(deps.status, name);
  await deps.hosts.flush();
  const denied = deps.hosts.deniedTo(name, Date.now() - deniedDays * dayMs);
  if (config === null) {
    return { days: deniedDays, denied: denied.map((one) => ({ ...one, entry: null })) };
  }
  const allow = await allowList(config, deps.project().network, deps.credential);
  return {
    days: deniedDays,
    denied: denied.map((one) => ({ ...one, entry: missingEntry(one, allow) })),
  };
}
