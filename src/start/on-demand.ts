import type { AgentChange } from "../../streams/vocabulary.ts";

/** The change without schedule and webhooks: the agent is callable only, by a person or another agent. */
export function withoutTriggers(change: AgentChange): AgentChange {
  if (change.type !== "set") return change;
  const agent = { ...change.agent, schedule: null, webhooks: [], callable: true };
  return { ...change, agent };
}
