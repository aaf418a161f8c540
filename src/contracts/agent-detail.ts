import type { AgentConfig } from "../../streams/agent-config.ts";

/** An agent in full, for its own page. */
export interface AgentDetail {
  /** The active config; null until there was a valid one. */
  readonly config: AgentConfig | null;
  /** When its schedule is due next, ISO 8601 UTC, at most five; none without a schedule. */
  readonly nextTicks: readonly string[];
}

/** The gateway's answer to the agent page. */
export interface AgentAnswer extends AgentDetail {
  /** The schedule in words; null without one. */
  readonly scheduleText: string | null;
}
