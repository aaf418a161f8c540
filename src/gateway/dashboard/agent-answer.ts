import type { AgentDetail } from "../../contracts/operations.ts";

/** What the page of an agent reads beside the streams. */
export interface AgentAnswer extends AgentDetail {
  /** The schedule in words; null without one. */
  readonly scheduleText: string | null;
}
