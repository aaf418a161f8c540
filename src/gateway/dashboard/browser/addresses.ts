/** The address of an agent's page. */
export function agentAddress(agent: string): string {
  return `/dashboard/agents/${encodeURIComponent(agent)}`;
}

/** The address of the log of one run. */
export function runAddress(agent: string, instanceId: string): string {
  return `${agentAddress(agent)}/logs?instance=${encodeURIComponent(instanceId)}`;
}

/** The address of what changed in what an agent ran, from one run to a later one. */
export function changesAddress(agent: string, instanceId: string, since: string): string {
  const run = encodeURIComponent(instanceId);
  return `${agentAddress(agent)}/runs/${run}/changes?to=${encodeURIComponent(since)}`;
}
