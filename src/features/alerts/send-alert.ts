import type { AlertTarget } from "../../../streams/alert-options.ts";
import type { AlertMessage, SendAlert } from "../../foundation/contracts/alerts.ts";
import type { SendRequest } from "../../foundation/contracts/outgoing-request.ts";
import { reasonOf } from "../../foundation/errors.ts";
import type { Fields, TargetMessage } from "./target.ts";
import { targetTypes } from "./targets.ts";
import { cut, oneLine } from "./text.ts";
import { alertText } from "./rules/alert-text.ts";

export interface SendAlertDeps {
  /** The fields of a credential, by `type` or `type:instance`. Rejects when it is missing or incomplete. */
  readonly credential: (reference: string) => Promise<Fields>;
  readonly sendRequest: SendRequest;
  /** For an e-mail; a request has its own. */
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
    const message = targetMessage(alertMessage, deps.now());
    const { sendRequest, warn, timeoutMs = 15_000 } = deps;
    return targetTypes[target.type].send({
      message,
      target,
      fields,
      sendRequest,
      timeoutMs,
      warn,
    });
  };
  // Not cut before: half of a secret is not known as one.
  const shown = (error: string): string => cut(redact(error), longestError);
  return async (message, target) => {
    try {
      const answer = await send(message, target);
      return answer.type === "accepted" ? answer : { ...answer, error: shown(answer.error) };
    } catch (error) {
      return { type: "failed", error: shown(reasonOf(error)), afterMs: null };
    }
  };
}

const longestError = 300;

/** An alert in words; what strangers wrote is one line each, and the project is named as the last of the lines. */
function targetMessage(message: AlertMessage, now: number): TargetMessage {
  const { reason } = message.alert;
  const alert = { ...message.alert, reason: reason === null ? null : cut(oneLine(reason), 300) };
  const { title, severity, lines } = alertText(alert, { timezone: message.timezone });
  const project = cut(oneLine(message.project), 100);
  return {
    ...message,
    alert,
    project,
    title: cut(oneLine(title), 200),
    severity,
    lines: [...lines, { label: "Project", text: project }].map(({ label, text }) => ({
      label,
      text: cut(oneLine(text), 700),
    })),
    now,
  };
}
