import type { AgentStatus } from "../../../streams/status/wire.ts";

/** The groups of agents, in the order in which a person acts on them. */
export const urgencyGroups = ["Needs you", "Failing", "Blocked", "Running", "OK"] as const;
export type UrgencyGroup = (typeof urgencyGroups)[number];

const groupOfState: Readonly<Record<AgentStatus["state"], UrgencyGroup>> = {
  error: "Failing",
  blocked: "Blocked",
  waiting: "Blocked",
  running: "Running",
  building: "Running",
  idle: "OK",
};

/** The group that an agent belongs in now. */
export function urgencyGroupOf({ state, blockedBy }: AgentStatus): UrgencyGroup {
  return blockedBy === "person" ? "Needs you" : groupOfState[state];
}

/** The lower, the more urgent; disabled agents come last in their group. */
export function urgencyOf(agent: AgentStatus): number {
  return urgencyGroups.indexOf(urgencyGroupOf(agent)) + (agent.enabled ? 0 : 0.5);
}

/** The agents by urgency; equal ones keep their order. */
export function byUrgency(agents: readonly AgentStatus[]): readonly AgentStatus[] {
  return agents.toSorted((a, b) => urgencyOf(a) - urgencyOf(b));
}

/**
 * Whether the agent has all words of a text: parts of its name, title and tags, the beginning of its state, and whole
 * words of its triggers: `web` is to find the agents of the web team, not all that a webhook starts.
 */
export function hasWords(agent: AgentStatus, text: string): boolean {
  const { name, title, tags, state, enabled, triggers } = agent;
  const names = [name, title, ...tags].join(" ").toLowerCase();
  const states = enabled ? [state] : [state, "disabled"];
  const whole = triggers.join(" ").toLowerCase().split(" ");
  const words = text.toLowerCase().split(/\s+/);
  return words.every(
    (word) =>
      names.includes(word) || states.some((one) => one.startsWith(word)) || whole.includes(word),
  );
}
