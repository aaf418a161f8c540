import { alertText } from "./rules/alert-text.ts";
import type { AlertMessage } from "../../foundation/contracts/alerts.ts";
import type { TargetMessage } from "./target.ts";
import { cut, oneLine } from "./text.ts";

/** An alert in words; what strangers wrote is one line each, and the project is named as the last of the lines. */
export function targetMessage(message: AlertMessage, now: number): TargetMessage {
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
