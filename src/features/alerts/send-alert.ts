import type { AlertTarget, AlertTargetType } from "../../../streams/alert-options.ts";
import type { AlertMessage, SendAlert } from "./rules/alert.ts";
import { withoutAddress, type SendRequest } from "../../foundation/contracts/outgoing-request.ts";
import { reasonOf, messageOf } from "../../foundation/errors.ts";
import { cut, oneLine, type Fields, type TargetMessage, type TargetType } from "./target.ts";
import { answerButtons, maxShownPrompt } from "./answer-buttons.ts";
import { alertText } from "./rules/alert-text.ts";
import { discord } from "./targets/discord.ts";
import { email } from "./targets/email.ts";
import { ntfy } from "./targets/ntfy.ts";
import { slack } from "./targets/slack.ts";
import { teams } from "./targets/teams.ts";
import { telegram } from "./targets/telegram.ts";
import { webhook } from "./targets/webhook.ts";

export interface SendAlertDeps {
  /** The fields of a credential, by `type` or `type:instance`. Rejects when it is missing or incomplete. */
  readonly credential: (reference: string) => Promise<Fields>;
  readonly sendRequest: SendRequest;
  /** Timeout of an e-mail; a request has its own. */
  readonly timeoutMs?: number;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  readonly warn: (message: string) => void;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Sends alerts, each type of target in its own form. */
export function createSendAlert({ credential, redact, ...deps }: SendAlertDeps): SendAlert {
  const send = async (alertMessage: AlertMessage, target: AlertTarget) => {
    const fields = await credential(target.credential);
    const message = targetMessage(alertMessage, target, deps.now());
    const { sendRequest, warn, timeoutMs = 15_000 } = deps;
    return targetTypes[target.type].send({ message, target, fields, sendRequest, timeoutMs, warn });
  };
  // Redacts before cutting: half of a secret is not recognized. Some servers repeat the link that answers.
  const shown = (error: string, { question, url }: AlertMessage): string => {
    const link = question === undefined ? null : URL.parse(url ?? "");
    return cut(redact(link === null ? error : withoutAddress(error, link)), longestError);
  };
  return async (message, target) => {
    try {
      const answer = await send(message, target);
      return answer.type === "accepted"
        ? answer
        : { ...answer, error: shown(answer.error, message) };
    } catch (error) {
      return { type: "failed", error: shown(reasonOf(error), message), afterMs: null };
    }
  };
}

const longestError = 300;

/** An alert in words; each text of strangers is one line, and the last line names the project. */
function targetMessage(
  message: AlertMessage,
  { type, answers }: AlertTarget,
  now: number,
): TargetMessage {
  const { question, timezone, files } = message;
  const { reason, at } = message.alert;
  const why = question === undefined ? reason : question.prompt;
  const alert = {
    ...message.alert,
    at: question?.answeredAt ?? at,
    reason: why === null ? null : cut(oneLine(why), question === undefined ? 300 : maxShownPrompt),
  };
  const { title, severity, lines } = alertText(alert, { timezone, question });
  const project = cut(oneLine(message.project), 100);
  return {
    ...message,
    alert,
    project,
    // The buttons of ntfy use the link.
    buttons:
      question?.state === "open" && (type === "ntfy" || answers.length > 0)
        ? answerButtons(question)
        : [],
    linkLabel: question?.state === "open" ? "Answer" : "Open in Almanac",
    title: cut(oneLine(title), 200),
    severity,
    lines: [...lines, ...files, { label: "Project", text: project }].map(({ label, text }) => ({
      label,
      text: cut(oneLine(text), 700),
    })),
    now,
  };
}

/** All types of targets. */
const targetTypes: Readonly<Record<AlertTargetType, TargetType>> = {
  slack,
  discord,
  teams,
  telegram,
  ntfy,
  email,
  webhook,
};

/** Why alerts can't be sent to a target with such a credential; null when they can, as far as is known without sending. */
export function targetProblem(target: AlertTarget, fields: Fields): string | null {
  try {
    targetTypes[target.type].check(fields, target);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}
