/** The address of an agent's page. */
export function agentAddress(agent: string): string {
  return `/dashboard/agents/${encodeURIComponent(agent)}`;
}

/** The address of the log of one run. */
export function runAddress(agent: string, instanceId: string): string {
  return `${agentAddress(agent)}/logs?instance=${encodeURIComponent(instanceId)}`;
}
