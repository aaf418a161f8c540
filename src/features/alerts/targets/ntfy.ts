import type { AlertSeverity } from "../rules/alert-text.ts";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { addressIn, optionalField, unusable, type Fields, type TargetMessage } from "../target.ts";
import { httpTarget } from "../http-target.ts";
import type { AnswerButton } from "../answer-buttons.ts";

/** From 1 to 5, and the names of emoji that are shown before the title. */
const looks: Readonly<Record<AlertSeverity, { priority: number; tag: string }>> = {
  error: { priority: 4, tag: "red_circle" },
  warning: { priority: 3, tag: "orange_circle" },
  ok: { priority: 3, tag: "green_circle" },
};

/** A topic's name, as ntfy takes it. */
const topicPattern = /^[-_A-Za-z0-9]{1,64}$/;

/** https://docs.ntfy.sh/publish/#publish-as-json */
export const ntfy = httpTarget({
  address: (fields) => new URL("./", addressIn(fields, "url")),
  check: (fields) => {
    topicOf(fields);
  },
  headers: (_body, _message, fields): Fields => {
    const token = optionalField(fields, "token");
    return token === null ? {} : { authorization: `Bearer ${token}` };
  },
  body: (message, fields) => {
    const { title, severity, url, buttons } = message;
    const { priority, tag } = looks[severity];
    return {
      topic: topicOf(fields),
      title: title,
      message: textOf(message),
      priority: buttons.length === 0 ? priority : looks.error.priority,
      tags: [tag],
      ...(url === null ? {} : { click: url, actions: actionsOf(message, url) }),
    };
  },
  meaning: ({ status, json }) =>
    status >= 300 && isPlainObject(json) && typeof json.error === "string"
      ? { type: "failed", reason: json.error }
      : null,
});

/** A message has at most three: https://docs.ntfy.sh/publish/#action-buttons */
const maxActions = 3;

/** Buttons answer by the link, which opens with a tap on the message, too. */
function actionsOf({ buttons, linkLabel, question }: TargetMessage, url: string) {
  // Approvals have four choices; those that are not for this request alone are on the page.
  const own = question?.kind === "ask" ? buttons : buttons.filter(isOfThisRequest);
  const fitting = own.length > maxActions ? [] : own;
  const answers = fitting.map(({ label, answer }) => ({
    action: "http",
    label,
    url,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ answer }),
    clear: true,
  }));
  return [...answers, { action: "view", label: linkLabel, url }].slice(0, maxActions);
}

const isOfThisRequest = ({ answer }: AnswerButton): boolean =>
  answer === "once" || answer === "deny";

function topicOf(fields: Fields): string {
  const topic = addressIn(fields, "url").pathname.split("/").at(-1) ?? "";
  if (topicPattern.test(topic)) return topic;
  throw unusable("url", "does not end with a topic, as https://ntfy.sh/my-topic does");
}

/** ntfy turns a message of more than 4,096 bytes into an attachment. */
function textOf({ lines }: TargetMessage): string {
  return lines.map(({ label, text }) => `${label}: ${text}`).join("\n");
}
