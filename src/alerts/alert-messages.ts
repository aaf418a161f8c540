import type { Alert } from "../../streams/alerts/alert.ts";
import type { AlertMessage } from "../contracts/alerts.ts";

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
  return (id, alert) => {
    const base = origin();
    const url = base === null ? null : `${base.replace(/\/$/, "")}${pathOf(alert)}`;
    return { id, alert, project: projectName, url, timezone: timezone() };
  };
}

function pathOf({ agent }: Alert): string {
  return agent === null ? "/dashboard/alerts" : `/dashboard/agents/${agent}`;
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
