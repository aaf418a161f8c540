import pc from "picocolors";
import type { AgentStatus, RecentLog, StatusSnapshot } from "../../../../streams/status/wire.ts";
import { anAgentStatus } from "../../../helpers/agent-status.ts";
import type { ScreenStyle } from "../../../../src/interfaces/cli/tui/screen.ts";
import { snapshotOf } from "../fake-operator.ts";

/** 2026-03-01 12:00, the moment at which everything here is shown. */
const now = new Date(2026, 2, 1, 12).getTime();

export function aStyle(columns: number, rows: number): ScreenStyle {
  return { columns, rows, colors: pc.createColors(false), now };
}

/** The row of an agent that ran a minute ago; what a test is about goes into `status`. */
export function ranAgentStatus(name: string, status: Partial<AgentStatus> = {}): AgentStatus {
  return anAgentStatus(name, {
    lastRunAt: new Date(now - 65_000).toISOString(),
    lastDurationMs: 3100,
    nextRunAt: new Date(now + 60_000).toISOString(),
    ...status,
  });
}

export function aLog(seq: number, msg: string): RecentLog {
  const time = new Date(now).toISOString();
  return { seq, time, level: 30, agent: "hello", instanceId: null, msg };
}

export function aSnapshot(
  agents: readonly AgentStatus[],
  scheduler: Partial<StatusSnapshot["scheduler"]> = {},
  recentLogs: readonly RecentLog[] = [],
): StatusSnapshot {
  const running = agents.reduce((sum, agent) => sum + agent.running, 0);
  return { ...snapshotOf(agents, { running, ...scheduler }), recentLogs };
}
