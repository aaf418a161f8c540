import type { AlertOptions } from "../../streams/alerts/alert-options.ts";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import type { AgentFiles } from "../config/agent-files.ts";
import type { ProjectConfig } from "../config/project-config.ts";
import { resolveAgent } from "../config/resolve-agent.ts";
import { knownToAgents } from "../known-to-agents.ts";

export interface AlertOptionsDeps {
  /** The agents' files at the start: runs that were lost before are alerted ahead of the first event. */
  readonly agents: ReadonlyMap<string, AgentFiles>;
  readonly record: (agent: string) => Pick<AgentRecord, "config"> | undefined;
  readonly project: () => ProjectConfig;
}

/** The options of an agent's alerts; the project's for one without a valid config. */
export function alertOptionsOf({
  agents,
  record,
  project,
}: AlertOptionsDeps): (agent: string | null) => AlertOptions {
  const atStart = (agent: string): AlertOptions | undefined => {
    const files = agents.get(agent);
    if (files === undefined) return undefined;
    const change = resolveAgent(files, project(), knownToAgents());
    return change.type === "set" ? change.agent.alert : undefined;
  };
  return (agent) => {
    if (agent === null) return project().alert;
    const known = record(agent);
    return (known === undefined ? atStart(agent) : known.config?.alert) ?? project().alert;
  };
}
