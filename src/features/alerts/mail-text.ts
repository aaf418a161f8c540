import type { AlertSeverity } from "./rules/alert-text.ts";
import { escapeHtml } from "../../foundation/contracts/escape-html.ts";
import type { TargetMessage } from "./target.ts";
import { linkLabel } from "./text.ts";

const colors: Readonly<Record<AlertSeverity, string>> = {
  error: "#b42318",
  warning: "#b54708",
  ok: "#067647",
};

/** The two forms of a mail's text. */
export function mailText({ title, lines, url, severity }: TargetMessage): {
  readonly text: string;
  readonly html: string;
} {
  const plain = [title, "", ...lines.map(({ label, text }) => `${label}: ${text}`)];
  return {
    text: `${[...plain, ...(url === null ? [] : ["", url])].join("\n")}\n`,
    html: [
      `<div style="font:15px/1.5 system-ui,sans-serif">`,
      `<p style="color:${colors[severity]};font-weight:600">${escapeHtml(title)}</p>`,
      `<table style="border-spacing:0">`,
      ...lines.map(({ label, text }) => row(label, text)),
      "</table>",
      ...(url === null ? [] : [`<p><a href="${escapeHtml(url)}">${linkLabel}</a></p>`]),
      "</div>",
    ].join("\n"),
  };
}

function row(label: string, text: string): string {
  const cell = `style="padding:2px 16px 2px 0;vertical-align:top"`;
  return `<tr><td ${cell}><b>${escapeHtml(label)}</b></td><td ${cell}>${escapeHtml(text)}</td></tr>`;
}
