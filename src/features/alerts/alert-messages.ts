import { counted } from "../../foundation/contracts/format.ts";
import type { AlertQuestions } from "./question-alerts.ts";
import type { Alert, AlertMessage } from "./rules/alert.ts";

export interface MessageDeps {
  readonly projectName: string;
  /** Origin by which people reach the dashboard; null without one. */
  readonly origin: () => string | null;
  /** Time zone of the project, IANA name. */
  readonly timezone: () => string;
  readonly questions: AlertQuestions;
  /** How many files a run left. */
  readonly filesOf: (instanceId: string) => number;
}

interface Addressed {
  readonly id: string;
  readonly alert: Alert;
  readonly target: string;
  readonly receipt?: string | null;
}

/** Creates messages: alerts with the name, time zone and dashboard of their project, and their question. */
export function alertMessage({
  projectName,
  origin,
  timezone,
  questions,
  filesOf,
}: MessageDeps): (delivery: Addressed) => AlertMessage {
  return ({ id, alert, target, receipt }) => {
    const question = alert.question === undefined ? null : questions.find(alert.question);
    const files = alert.topic === "runs" ? filesOf(alert.instanceId ?? "") : 0;
    const page = alertLink(origin(), alert);
    const answerPath = question?.state === "open" ? questions.linkPath(question, target) : null;
    return {
      id,
      alert,
      project: projectName,
      url: answerPath === null ? page : linkTo(origin(), answerPath),
      files: files === 0 ? [] : [{ label: "Files", text: filesText(files, page, alert) }],
      timezone: timezone(),
      question: question ?? undefined,
      receipt,
    };
  };
}

/** `3 files: https://al.example.org/dashboard/agents/dev/runs/dev-k3v9q2xa#files` */
function filesText(files: number, page: string | null, { instanceId }: Alert): string {
  const where = page === null ? `al files ${instanceId}` : `${page}#files`;
  return `${counted(files, "file")}: ${where}`;
}

function linkTo(base: string | null, path: string): string | null {
  return base === null ? null : `${base.replace(/\/$/, "")}${path}`;
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
  return linkTo(base, `/${pathOf(alert)}`);
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
