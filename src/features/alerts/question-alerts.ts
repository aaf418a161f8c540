import type { Observable } from "rxjs";
import { v5 as uuidV5 } from "uuid";
import type { AlertOptions, AlertTarget } from "../../../streams/alert-options.ts";
import type { Question } from "../../foundation/contracts/questions.ts";
import type { Alert, Delivery } from "./rules/alert.ts";
import { reasonLine } from "./rules/records.ts";

/** The questions of runs, as alerts need them. */
export interface AlertQuestions {
  /** Open questions at the start and after changes of the config, then each one as it is stored and as it ends. */
  readonly question$: Observable<Question>;
  readonly find: (id: string) => Question | null;
  /** The path, with a token, on which the people behind a target answer. */
  readonly linkPath: (question: Question, target: string) => string;
}

const hourMs = 3_600_000;
/** Later deliveries would count as planned by a wrong clock. */
const latestReminderMs = 24 * hourMs;

/**
 * The message about a question to each of its targets, now also in quiet hours, and the reminder after half of its time.
 * The same question has the same ids, so that it is stored once.
 */
export function questionDeliveries(
  question: Question,
  targets: readonly AlertTarget[],
  { to, remindMs }: AlertOptions,
): readonly Delivery[] {
  const { id, at, until } = question;
  const reminderMs = Math.min(Math.round((until - at) / 2), latestReminderMs);
  const isReminded = remindMs !== null && reminderMs >= hourMs / 2;
  const opened = questionAlert(question);
  const reminder: Alert = { ...opened, phase: "reminder", at: at + reminderMs };
  return targets
    .map(({ name }) => name)
    .filter((target) => to?.includes(target) ?? true)
    .flatMap((target) => {
      const first = { id: uuidV5(target, id), at, target, alert: opened, nextAt: at };
      const second = { ...first, id: uuidV5(`${target}/reminder`, id), alert: reminder };
      return isReminded ? [first, { ...second, nextAt: reminder.at }] : [first];
    });
}

function questionAlert({ id, at, agent, instanceId, prompt }: Question): Alert {
  return {
    topic: "question",
    phase: "opened",
    agent,
    at,
    since: at,
    reason: reasonLine(prompt),
    count: 1,
    outcome: null,
    instanceId,
    costUsd: null,
    agents: [],
    question: id,
  };
}
