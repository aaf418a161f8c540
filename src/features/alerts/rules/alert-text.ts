import { nanoOfUsd, usdText } from "../../../foundation/contracts/money.ts";
import { shownAt } from "../../../../streams/wall-time.ts";
import type { Alert, AlertTopic } from "../../../foundation/contracts/alert.ts";
import { alertTitle } from "./alert-title.ts";
import { lengthText } from "./length-text.ts";

/** The command that a person types next, where there is one: a link may lead nowhere from a phone. */
const commands: Partial<Record<AlertTopic, (agent: string | null) => string>> = {
  runs: (agent) => `al logs ${agent}`,
  no_success: (agent) => `al history --agent ${agent}`,
  config: () => "al doctor",
  image: (agent) => `al logs ${agent}`,
  credentials: () => "al doctor",
  blocked: () => "al doctor",
  missed_ticks: (agent) => `al history --outcome missed --agent ${agent}`,
  dead_letters: (agent) => `al history --dead-letter --agent ${agent}`,
  budget: (agent) => `al budget raise ${agent ?? "project"} <usd>`,
};

/** What a person does about an alert; null when there is nothing left to do. */
function nextStep({ topic, phase, agent, count }: Alert): string | null {
  if (phase === "resolved" || (topic === "budget" && count < 100)) return null;
  return commands[topic]?.(agent) ?? null;
}

/** An alert in words, not escaped for any target. */
export interface AlertText {
  /** One line. */
  readonly title: string;
  readonly severity: AlertSeverity;
  readonly lines: readonly AlertLine[];
}

export type AlertSeverity = "error" | "warning" | "ok";

export interface AlertLine {
  readonly label: string;
  readonly text: string;
}

/** What is wrong, why, since when, how often, at what cost, and what to do next; times as a clock in `timezone` (IANA name) shows them. */
export function alertText(alert: Alert, { timezone }: { readonly timezone: string }): AlertText {
  const { reason, instanceId, costUsd, agents } = alert;
  const next = nextStep(alert);
  const lines: readonly (AlertLine | null)[] = [
    reason === null ? null : { label: reasonLabel(alert), text: reason },
    agents.length === 0 ? null : { label: "Agents", text: agentsText(alert) },
    timeLine(alert, timezone),
    alert.topic === "runs" && alert.count > 1
      ? { label: "Failures", text: `${alert.count} in a row` }
      : null,
    instanceId === null ? null : { label: "Run", text: instanceId },
    costUsd === null ? null : { label: "Cost", text: usdText(nanoOfUsd(costUsd)) },
    next === null ? null : { label: "Next", text: next },
  ];
  return {
    title: alertTitle(alert),
    severity: severityOf(alert),
    lines: lines.filter((line) => line !== null),
  };
}

/** The reason of a digest counts its alerts. */
function reasonLabel({ topic, phase }: Alert): string {
  if (topic === "digest") return "What";
  return phase === "resolved" ? "Was" : "Why";
}

function severityOf({ topic, phase, count }: Alert): AlertSeverity {
  if (phase === "resolved" || topic === "test") return "ok";
  if (topic === "budget") return count < 100 ? "warning" : "error";
  return topic === "missed_ticks" ? "warning" : "error";
}

/** The first ten are known, and how many alerts there are, but not how many agents. */
function agentsText({ agents, count }: Alert): string {
  const names = agents.join(", ");
  return count > agents.length && agents.length >= 10 ? `${names} and others` : names;
}

function timeLine(alert: Alert, timezone: string): AlertLine {
  const { since, at } = alert;
  const [time, length] = [timeText(since, timezone), lengthText(at - since)];
  if (isOver(alert)) return { label: "Lasted", text: `${length}, since ${time}` };
  if (since === at) return { label: "At", text: time };
  return { label: "Since", text: at - since < 60_000 ? time : `${time} (${length})` };
}

/** A scheduler that alerts that it was down is up again. */
function isOver({ topic, phase, count }: Alert): boolean {
  return phase === "resolved" || (topic === "scheduler_down" && count === 1);
}

/** `2026-11-22 14:05 Europe/Vienna`. */
function timeText(time: number, timezone: string): string {
  const shown = new Date(shownAt(time, timezone)).toISOString();
  return `${shown.slice(0, "2026-11-22".length)} ${shown.slice(11, 16)} ${timezone}`;
}
