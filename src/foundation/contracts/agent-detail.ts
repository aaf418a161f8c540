import type { AgentConfig } from "../../../streams/agent-config.ts";

/** An agent in full, for its own page. */
export interface AgentDetail {
  /** The active config; null until there was a valid one. */
  readonly config: AgentConfig | null;
  /** When its schedule is due next, ISO 8601 UTC, at most five; none without a schedule. */
  readonly nextTicks: readonly string[];
}

/** One line of what an agent is configured to be. */
export interface AgentFact {
  readonly label: string;
  readonly values: readonly string[];
}

/** The gateway's answer to the agent page. */
export interface AgentAnswer extends AgentDetail {
  /** The schedule in words; null without one. */
  readonly scheduleText: string | null;
  /** The config as lines for people. */
  readonly facts: readonly AgentFact[];
}
