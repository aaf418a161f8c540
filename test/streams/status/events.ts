import type { Outcome } from "../../../streams/outcomes.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { LogEntry, Diagnostic, RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import type { LockStatus } from "../../../streams/status/wire.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";

/** An error in an agent's config, for what a test says of it. */
export function aProblem(more: Partial<Diagnostic> = {}): Diagnostic {
  const place = { file: "agents/dev/config.toml", line: 4, column: 12 };
  return { severity: "error", ...place, message: "scale is not a number", ...more };
}

/** A run of an agent holds a resource, or waits for it. */
export function claimOf(agent: string, resource: string, held = true): LockStatus {
  const [since, expiresAt] = ["1970-01-01T00:00:00.000Z", "1970-01-01T00:30:00.000Z"];
  const times = { since, expiresAt: held ? expiresAt : null };
  return { resource, agent, instanceId: `${agent}-1`, held, ...times };
}

/** Events of one agent and its work at a moment (epoch ms), each by what it is about. */
export function eventsOf(agent: string, at = 0, item: WorkItem = anItem("1", agent)) {
  const now = { agent, at };
  return {
    set: (config: Partial<AgentConfig> = {}): RunEvent => ({
      ...now,
      type: "agent-set",
      config: anAgent(agent, config),
      warnings: [],
      summary: "loaded",
    }),
    invalid: (...problems: readonly Diagnostic[]): RunEvent => ({
      ...now,
      type: "agent-invalid",
      problems,
      sources: [],
    }),
    removed: (): RunEvent => ({ ...now, type: "agent-removed" }),
    enabled: (enabled: boolean): RunEvent => ({ ...now, type: "agent-enabled", enabled }),
    requirements: (...unmet: readonly Diagnostic[]): RunEvent => ({
      ...now,
      type: "agent-requirements",
      unmet,
    }),
    blocked: (reason: string | null, instanceId = `${agent}-1`): RunEvent => ({
      ...now,
      type: "blocked",
      instanceId,
      reason,
    }),
    buildStarted: (text = "building"): RunEvent => ({ ...now, type: "build-started", text }),
    buildProgress: (text: string): RunEvent => ({ ...now, type: "build-progress", text }),
    buildFinished: (error: string | null = null): RunEvent => ({
      ...now,
      type: "build-finished",
      error,
      usable: error === null,
    }),
    nextRun: (nextRunAt: number | null): RunEvent => ({
      ...now,
      type: "next-run",
      nextRunAt,
      schedule: "",
      checked: null,
    }),
    depth: (depth: number): RunEvent => ({ ...now, type: "queue-depth", depth }),
    queued: (): RunEvent => ({ ...now, type: "queued", item }),
    refused: (
      outcome: "skipped" | "missed" | "dropped" | "rejected" = "dropped",
      reason = "queue_full",
    ): RunEvent => ({ ...now, type: "refused", item, outcome, reason }),
    started: (instanceId = `${agent}-1`, of: WorkItem = item): RunEvent => ({
      ...now,
      type: "started",
      item: of,
      instanceId,
    }),
    statusText: (text: string): RunEvent => ({
      ...now,
      type: "status-text",
      instanceId: `${agent}-1`,
      text,
    }),
    output: (msg: string, kind = "said"): RunEvent => {
      const entry: LogEntry = { level: 30, time: at, msg, kind, agent, instanceId: `${agent}-1` };
      return { ...now, type: "output", instanceId: `${agent}-1`, entry };
    },
    spent: (usd: number, today = usd, instanceId = `${agent}-1`): RunEvent => ({
      ...now,
      type: "spent",
      instanceId,
      usd,
      today: { usd: today, endsAt: 86_400_000 },
    }),
    finished: (
      outcome: Outcome = "succeeded",
      reason: string | null = null,
      startedAt = 0,
      instanceId = `${agent}-1`,
    ): RunEvent => ({
      ...now,
      type: "finished",
      item,
      instanceId,
      startedAt,
      end: { outcome, exitCode: outcome === "succeeded" ? 0 : 1, reason, usage: null },
    }),
  };
}
