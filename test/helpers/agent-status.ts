import type { AgentStatus } from "../../streams/status/wire.ts";

/** The row of an idle agent that never ran; what a test is about goes into `status`. */
export function anAgentStatus(name: string, status: Partial<AgentStatus> = {}): AgentStatus {
  return {
    name,
    title: name,
    description: null,
    license: null,
    state: "idle",
    statusText: null,
    error: null,
    warning: null,
    enabled: true,
    lastRunAt: null,
    lastDurationMs: null,
    lastOutcome: null,
    nextRunAt: null,
    running: 0,
    runningUsd: null,
    spentToday: null,
    usedBudget: null,
    blockedBy: null,
    scale: 1,
    queued: 0,
    queueSize: 100,
    triggers: [],
    tags: [],
    runtime: "host-user",
    models: ["scripted"],
    ...status,
  };
}
