import type { Alert } from "../../streams/alerts/alert.ts";
import { alertText } from "../../streams/alerts/alert-text.ts";
import type { AlertMessage } from "../contracts/alerts.ts";
import type { ProjectConfig } from "../config/project-config.ts";

export interface MessageDeps {
  readonly projectName: string;
  readonly project$: { readonly value: ProjectConfig };
  /** Origin of the dashboard; null without one. */
  readonly dashboardUrl: () => string | null;
}

/** Creates messages: alerts with what each of them says of its project. */
export function alertMessage({
  projectName,
  project$,
  dashboardUrl,
}: MessageDeps): (id: string, alert: Alert) => AlertMessage {
  return (id, alert) => {
    const origin = project$.value.gateway.publicUrl ?? dashboardUrl();
    const url = origin === null ? null : `${origin.replace(/\/$/, "")}${pathOf(alert)}`;
    return { id, alert, project: projectName, url, timezone: project$.value.timezone };
  };
}

function pathOf({ agent }: Alert): string {
  return agent === null ? "/dashboard/alerts" : `/dashboard/agents/${agent}`;
}

/** The alert in one line. */
export function titleOf(alert: Alert, timezone: string): string {
  return alertText(alert, { timezone }).title;
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
