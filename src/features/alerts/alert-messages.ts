import type { Alert, AlertMessage } from "./rules/alert.ts";

export interface MessageDeps {
  readonly projectName: string;
  /** Origin by which people reach the dashboard; null without one. */
  readonly origin: () => string | null;
  /** Time zone of the project, IANA name. */
  readonly timezone: () => string;
}

/** Creates messages: alerts with the name, time zone and dashboard of their project. */
export function alertMessage({
  projectName,
  origin,
  timezone,
}: MessageDeps): (id: string, alert: Alert) => AlertMessage {
  return (id, alert) => ({
    id,
    alert,
    project: projectName,
    url: alertLink(origin(), alert),
    timezone: timezone(),
  });
}

/** The alert for a person's test of a target. */
export function testAlert(now: number): Alert {
  return {
    topic: "test",
    phase: "opened",
    agent: null,
    at: now,
    since: now,
    reason: null,
    count: 1,
    outcome: null,
    instanceId: null,
    costUsd: null,
    agents: [],
  };
}

/** The page of the dashboard about an alert, with its next step; null without an address of the dashboard. */
export function alertLink(
  base: string | null,
  alert: Pick<Alert, "topic" | "agent" | "instanceId">,
): string | null {
  if (base === null) return null;
  return new URL(pathOf(alert), base.endsWith("/") ? base : `${base}/`).href;
}

function pathOf({ topic, agent, instanceId }: Parameters<typeof alertLink>[1]): string {
  if (topic === "budget") return "dashboard/cost";
  if (agent === null) return "dashboard/alerts";
  if (topic === "dead_letters") {
    return `dashboard/triggers?agent=${encodeURIComponent(agent)}&dead=true`;
  }
  const page = `dashboard/agents/${encodeURIComponent(agent)}`;
  return instanceId === null ? page : `${page}/runs/${encodeURIComponent(instanceId)}`;
}
