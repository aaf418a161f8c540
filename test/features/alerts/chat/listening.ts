import { Subject } from "rxjs";
import type { AlertTarget } from "../../../../streams/alert-options.ts";
import { createChats } from "../../../../src/features/alerts/chat/chats.ts";
import type { TargetAnswer } from "../../../../src/features/alerts/rules/alert.ts";
import type { Fields } from "../../../../src/features/alerts/target.ts";
import type { Answer, Person, Question } from "../../../../src/foundation/contracts/questions.ts";
import { Problem } from "../../../../src/foundation/errors.ts";
import { defaultOptions } from "../rules/alerts.ts";
import { alerts, aQuestion, messageFor, sendWith, targetOf } from "../samples.ts";

const question = aQuestion();
export const choose = (index: number) => `${question.id}:${index}`;
export const slackOps: AlertTarget = {
  ...targetOf("slack"),
  credential: "slack_app",
  answers: ["U0ADA"],
};
export const telegramOps: AlertTarget = { ...targetOf("telegram"), answers: ["42"] };

/** Chats with these targets; the first answer counts. */
export function listening(
  target: AlertTarget,
  fields: Fields,
  to: readonly string[] | null = null,
  stored: Promise<void> = Promise.resolve(),
) {
  const given: { answer: Answer; by: Person }[] = [];
  const log: string[] = [];
  const changed$ = new Subject<unknown>();
  let targets: readonly AlertTarget[] = [target];
  const subscription = createChats({
    targets: () => targets,
    changed$,
    optionsOf: () => ({ ...defaultOptions, to }),
    credential: () => Promise.resolve(fields),
    find: (id) => (id === question.id ? question : null),
    answer: (_id, answer, by) => {
      if (given.length > 0) return Promise.reject(new Problem("answered", "Ada answered: wait"));
      given.push({ answer, by });
      return stored;
    },
    proxyEnv: {},
    note: (message) => log.push(message),
    warn: (message) => log.push(message),
    firstWaitMs: 20,
  }).subscribe();
  onTestFinished(() => subscription.unsubscribe());
  const change = (next: readonly AlertTarget[]) => {
    targets = next;
    changed$.next(null);
  };
  return { given, log, change, stop: () => subscription.unsubscribe() };
}

export const send = (
  target: AlertTarget,
  fields: Fields,
  more: { asked?: Question; receipt?: string } = {},
): Promise<TargetAnswer> =>
  sendWith(fields)(
    {
      ...messageFor(alerts.question),
      question: more.asked ?? question,
      receipt: more.receipt,
    },
    target,
  );
export const ended: Question = {
  ...question,
  state: "answered",
  answer: "wait",
  answeredAt: question.at + 1000,
  by: { via: "key", name: "", from: null },
};
export const ofMethod = (calls: readonly { method: string; body: object }[], method: string) =>
  calls.filter((call) => call.method === method).map(({ body }) => body);
