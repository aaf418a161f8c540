import type { Alert, AlertMessage, SendAlert } from "../../../src/features/alerts/rules/alert.ts";
import { NEVER } from "rxjs";
import type { AlertQuestions } from "../../../src/features/alerts/question-alerts.ts";
import type { Question } from "../../../src/foundation/contracts/questions.ts";
import type { AlertTarget, AlertTargetType } from "../../../streams/alert-options.ts";
import { createSendAlert, type SendAlertDeps } from "../../../src/features/alerts/send-alert.ts";
import type { Fields } from "../../../src/features/alerts/target.ts";
import { anAlert, aTarget } from "./rules/alerts.ts";
import { aQuestionView } from "../../helpers/fake-questions.ts";
import { createSendRequest } from "../../../src/foundation/contracts/outgoing-request.ts";

const now = Date.now();

const plain = anAlert({
  at: now,
  since: now - 90_000,
  reason: "the hook ./build failed with exit code 2",
  instanceId: "0197a1c2-7d1e-7c3a-9c55-0123456789ab",
  costUsd: 0.1234,
});

/** Everything that some target would take for more than text. */
const hostileText =
  "<!channel> <@U123> @everyone @here **b** _i_ `c` ~~s~~ ||x|| > # [a](http://evil.test) http://evil.test <b>\"&amp;' \u001b[31m\u202e\r\nBcc: x@evil.test\n# h";

/** An open question of dev. */
export function aQuestion(more: Partial<Question> = {}): Question {
  return {
    ...aQuestionView(),
    prompt: "Deploy 1.4 of evil? exit code 2",
    form: { kind: "choice", choices: ["ship <it>", "wait"] },
    fallback: "wait",
    at: now,
    until: now + 3_600_000,
    answeredAt: null,
    ...more,
  };
}

export const noQuestions: AlertQuestions = {
  question$: NEVER,
  find: () => null,
  linkPath: () => "/answer/token",
};

export const alerts = {
  opened: plain,
  reminder: { ...plain, phase: "reminder", count: 12 },
  resolved: { ...plain, phase: "resolved", count: 12, outcome: null, costUsd: null },
  digest: {
    ...plain,
    topic: "digest",
    agent: null,
    count: 9_994,
    instanceId: null,
    outcome: null,
    agents: Array.from({ length: 10 }, (_, index) => `agent-with-quite-a-long-name-${index}`),
  },
  budget: { ...plain, topic: "budget", agent: null, count: 80, instanceId: null, outcome: null },
  test: { ...plain, topic: "test", agent: null, reason: null, instanceId: null, costUsd: null },
  hostile: { ...plain, reason: hostileText },
  question: { ...plain, topic: "question", outcome: null, costUsd: null, question: aQuestion().id },
  long: { ...plain, reason: "\u{1f600}<&@".repeat(100) },
} satisfies Record<string, Alert>;

export function messageFor(alert: Alert): AlertMessage {
  return {
    id: "0197a1c2-7d1e-7c3a-9c55-ba9876543210",
    alert,
    project: "acme & <co>",
    url: "https://al.example.test/dashboard/agents/dev?a=1&b=2",
    files: [],
    timezone: "Europe/Vienna",
    question: alert.question === undefined ? undefined : aQuestion(),
  };
}

/** Sends by HTTP, with such a credential. */
export function sendWith(fields: Fields, more: Partial<SendAlertDeps> = {}): SendAlert {
  return createSendAlert({
    credential: () => Promise.resolve(fields),
    sendRequest: createSendRequest({ proxyEnv: {} }),
    redact: (text) => text,
    warn: () => undefined,
    now: Date.now,
    ...more,
  });
}

export function targetOf(type: AlertTargetType, to: readonly string[] = []): AlertTarget {
  return aTarget("ops", { type, credential: type, to });
}
