import type { Alert } from "../../foundation/contracts/alert.ts";
import type { AlertMessage } from "../../foundation/contracts/alerts.ts";

export interface MessageDeps {
  readonly projectName: string;
  /** Origin by which people reach the dashboard; null without one. */
  readonly origin: () => string | null;
  /** The project's, IANA name. */
  readonly timezone: () => string;
}

/** Creates messages: alerts with what each of them says of its project. */
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

/** What a target gets when a person tests it. */
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

/** The page of the dashboard that shows what an alert is about, and has what a person does next; null without an address of the dashboard. */
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
