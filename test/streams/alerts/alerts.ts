import type { Alert } from "../../../streams/alerts/alert.ts";

/** Agent dev failed at 14:05 UTC; what a test is about goes into `more`. */
export function anAlert(more: Partial<Alert> = {}): Alert {
  const at = Date.parse("2026-11-22T14:05:00Z");
  return {
    topic: "runs",
    phase: "opened",
    agent: "dev",
    at,
    since: at,
    reason: "exited with code 1",
    count: 1,
    outcome: "failed",
    instanceId: "dev-abcdefgh",
    costUsd: 0.12,
    agents: [],
    ...more,
  };
}
