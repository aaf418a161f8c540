import { outcomeRows } from "../../../../streams/outcomes.ts";
import { nanoOfUsd, usdText } from "../../../foundation/contracts/money.ts";
import { shownAt } from "../../../../streams/wall-time.ts";
import {
  answerText,
  endText,
  heldBy,
  type Question,
} from "../../../foundation/contracts/questions.ts";
import type { Alert, AlertPhase, AlertTopic } from "./alert.ts";

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
  question: () => "al questions",
  budget: (agent) => `al budget raise ${agent ?? "project"} <usd>`,
};

/** The command for an alert; null if none helps. */
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

/**
 * The fault, its reason, start, count and cost, and the next step; times as a clock in `timezone` (IANA name) shows them.
 * `question` is the one that the alert is about.
 */
export function alertText(
  alert: Alert,
  { timezone, question }: { readonly timezone: string; readonly question?: Question | undefined },
): AlertText {
  const { reason, instanceId, costUsd, agents } = alert;
  const next = nextStep(alert);
  const lines: readonly (AlertLine | null)[] = [
    reason === null ? null : { label: reasonLabel(alert), text: reason },
    question === undefined ? null : heldLine(question),
    agents.length === 0 ? null : { label: "Agents", text: agentsText(alert) },
    timeLine(alert, timezone),
    question?.state === "open" ? { label: "Until", text: untilText(question, timezone) } : null,
    alert.topic === "runs" && alert.count > 1
      ? { label: "Failures", text: `${alert.count} in a row` }
      : null,
    instanceId === null ? null : { label: "Run", text: instanceId },
    costUsd === null ? null : { label: "Cost", text: usdText(nanoOfUsd(costUsd)) },
    next === null ? null : { label: "Next", text: next },
  ];
  return {
    title: question === undefined ? alertTitle(alert) : questionTitle(alert, question),
    severity: severityOf(alert),
    lines: lines.filter((line) => line !== null),
  };
}

/** The reason of a digest counts its alerts. */
function reasonLabel({ topic, phase }: Alert): string {
  if (topic === "digest") return "What";
  if (topic === "question") return "Question";
  return phase === "resolved" ? "Was" : "Why";
}

function severityOf({ topic, phase, count }: Alert): AlertSeverity {
  if (phase === "resolved" || topic === "test") return "ok";
  if (topic === "budget") return count < 100 ? "warning" : "error";
  return topic === "missed_ticks" || topic === "question" ? "warning" : "error";
}

function heldLine(question: Question): AlertLine | null {
  const text = heldBy(question);
  return text === null ? null : { label: "Held by", text };
}

/** The first ten agents and the number of alerts are known, but not the number of agents. */
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

function untilText({ kind, until, fallback }: Question, timezone: string): string {
  const then = fallback === null ? "the run ends" : `the answer is ${answerText(kind, fallback)}`;
  return `${timeText(until, timezone)}, then ${then}`;
}

function questionTitle(alert: Alert, question: Question): string {
  return question.state === "open" ? alertTitle(alert) : `${alert.agent}: ${endText(question)}`;
}

type Title = (alert: Alert) => string;

/** The fault, in one line that needs no other. */
export function alertTitle(alert: Alert): string {
  return titles[alert.topic][alert.phase](alert);
}

/** The agent, or the project as a whole. */
const whose = ({ agent }: Alert): string => agent ?? "the project";
const lasted = ({ since, at }: Alert): string => lengthText(at - since);
const times = (count: number): string => (count === 1 ? "" : ` ${count} times`);
const spent: Title = ({ agent, count }) =>
  count < 100
    ? `${agent ?? "The project"} spent ${count} % of its budget`
    : `${agent ?? "The project"} can't afford its next call`;
/** Names of the first three agents: a phone shows only the title of an alert. */
const ofAgents = ({ agents }: Alert): string => {
  if (agents.length === 0) return "";
  const names = agents.slice(0, 3).join(", ");
  return `: ${names}${agents.length > 3 ? " and others" : ""}`;
};
const always = (title: Title): Record<AlertPhase, Title> => ({
  opened: title,
  reminder: title,
  resolved: title,
});

const titles: Record<AlertTopic, Record<AlertPhase, Title>> = {
  runs: {
    opened: (alert) =>
      `${whose(alert)} ${outcomeRows[alert.outcome ?? "failed"].alert ?? "failed"}`,
    reminder: (alert) => `${whose(alert)} still fails`,
    resolved: (alert) => `${whose(alert)} recovered`,
  },
  no_success: {
    opened: (alert) => `${whose(alert)} had no success for ${lasted(alert)}`,
    reminder: (alert) => `${whose(alert)} still has no success, for ${lasted(alert)}`,
    resolved: (alert) => `${whose(alert)} succeeded again`,
  },
  config: {
    opened: (alert) => `The config of ${whose(alert)} is invalid`,
    reminder: (alert) => `The config of ${whose(alert)} is still invalid`,
    resolved: (alert) => `The config of ${whose(alert)} is valid again`,
  },
  image: {
    opened: (alert) => `The image of ${whose(alert)} can't be built`,
    reminder: (alert) => `The image of ${whose(alert)} still can't be built`,
    resolved: (alert) => `The image of ${whose(alert)} is built again`,
  },
  credentials: {
    opened: (alert) => `${whose(alert)} is missing a requirement`,
    reminder: (alert) => `${whose(alert)} is still missing a requirement`,
    resolved: (alert) => `${whose(alert)} has all requirements again`,
  },
  blocked: {
    opened: (alert) => `The machine can't start runs of ${whose(alert)}`,
    reminder: (alert) => `The machine still can't start runs of ${whose(alert)}`,
    resolved: (alert) => `The machine starts runs of ${whose(alert)} again`,
  },
  missed_ticks: always((alert) => `${whose(alert)} missed its schedule${times(alert.count)}`),
  dead_letters: always((alert) =>
    alert.count === 1
      ? `A trigger for ${whose(alert)} was not processed`
      : `${alert.count} triggers for ${whose(alert)} were not processed`,
  ),
  budget: always(spent),
  scheduler_down: always((alert) =>
    alert.count === 1
      ? `The scheduler was down for ${lasted(alert)}`
      : `The scheduler was down${times(alert.count)}`,
  ),
  question: {
    opened: (alert) => `${whose(alert)} waits for an answer`,
    reminder: (alert) => `${whose(alert)} still waits for an answer`,
    resolved: (alert) => `${whose(alert)} no longer waits for an answer`,
  },
  digest: {
    opened: (alert) => `${alert.count} alerts${ofAgents(alert)}`,
    reminder: (alert) => `${alert.count} alerts${ofAgents(alert)}`,
    resolved: (alert) => `${alert.count} alerts are resolved${ofAgents(alert)}`,
  },
  test: always(() => "Test alert"),
};

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How long something lasted, as coarse as a person would put it: `40 s`, `5 min`, `36 h`, `3 days`. */
function lengthText(ms: number): string {
  if (ms < minuteMs) return `${Math.max(0, Math.round(ms / 1000))} s`;
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < 3 * dayMs) return `${Math.floor(ms / hourMs)} h`;
  return `${Math.floor(ms / dayMs)} days`;
}
