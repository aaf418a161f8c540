import type { AgentStatus, StatusSnapshot } from "../../streams/status/wire.ts";
import { anAgentStatus } from "./agent-status.ts";

export type NamedStatus = Partial<AgentStatus> & { readonly name: string };

/** An idle agent with a cron schedule. */
export function agentStatus(agent: NamedStatus): AgentStatus {
  return anAgentStatus(agent.name, { triggers: ["schedule 0 9 * * *"], ...agent });
}

/** The first state of a scheduler with these agents. */
export function fakeSnapshot(agents: readonly NamedStatus[]): StatusSnapshot {
  return {
    scheduler: {
      paused: false,
      pausedWork: false,
      pausedAt: null,
      draining: false,
      startedAt: new Date().toISOString(),
      version: "0.1.0",
      project: "hello",
      gatewayUrl: "http://localhost:8080",
      running: 0,
      cronJobs: agents.length,
      webhookSources: [],
      error: null,
      warnings: [],
      alerts: { open: 0, dead: 0 },
      questions: 0,
    },
    agents: agents.map(agentStatus),
    recentLogs: [],
    locks: [],
  };
}
