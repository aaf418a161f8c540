import type { Alert } from "../../foundation/contracts/alert.ts";
import type { AlertMessage } from "../../foundation/contracts/alerts.ts";
import { alertLink } from "./alert-link.ts";

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
