import type { AgentStatus } from "../../../streams/status/wire.ts";

/** The agents by urgency: those that need a person, then failing, blocked and running ones; equal ones keep their order. */
export function byUrgency(agents: readonly AgentStatus[]): readonly AgentStatus[] {
  return agents.toSorted((a, b) => urgencyOf(a) - urgencyOf(b));
}

const urgencies = { error: 1, blocked: 2, waiting: 2, building: 3, running: 3, idle: 4 } as const;

function urgencyOf({ state, blockedBy, enabled }: AgentStatus): number {
  const needsPerson = blockedBy === "person" || blockedBy === "budget";
  return (needsPerson ? 0 : urgencies[state]) + (enabled ? 0 : 0.5);
}

/** Whether the agent has all words of a text, or their beginnings, in its name, title, tags or state. */
export function hasWords({ name, title, tags, state }: AgentStatus, text: string): boolean {
  const shown = [name, title, ...tags, state].join(" ").toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word));
}
