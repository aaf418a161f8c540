import type { AlertSeverity } from "../rules/alert-text.ts";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { addressIn, type JsonAnswer, type Meaning, type TargetMessage } from "../target.ts";
import { httpTarget } from "../http-target.ts";

const colors: Readonly<Record<AlertSeverity, string>> = {
  error: "Attention",
  warning: "Warning",
  ok: "Good",
};

/**
 * A workflow "when a Teams webhook request is received". The runs of a RichTextBlock are plain: a TextBlock would read
 * Markdown.
 * https://adaptivecards.io/explorer/RichTextBlock.html
 */
export const teams = httpTarget({
  address: (fields) => addressIn(fields, "url"),
  body: (message) => ({
    type: "message",
    attachments: [
      { contentType: "application/vnd.microsoft.card.adaptive", content: card(message) },
    ],
  }),
  meaning,
});

function card({ title, severity, lines, url, linkLabel }: TargetMessage) {
  const color = colors[severity];
  return {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    fallbackText: title,
    body: [
      richText({ text: title, size: "Medium", weight: "Bolder", color }),
      ...lines.map(({ label, text }) =>
        richText({ text: `${label} `, weight: "Bolder" }, { text: text }),
      ),
    ],
    ...(url === null ? {} : { actions: [{ type: "Action.OpenUrl", title: linkLabel, url }] }),
  };
}

interface TextRun {
  readonly text: string;
  readonly size?: "Medium";
  readonly weight?: "Bolder";
  readonly color?: string;
}

function richText(...runs: readonly TextRun[]) {
  return { type: "RichTextBlock", inlines: runs.map((run) => ({ type: "TextRun", ...run })) };
}

/** A deleted workflow is a 404 with its own code; older connectors report errors with status 200. */
function meaning({ status, json, text }: JsonAnswer): Meaning | null {
  if (status < 300) return /returned HTTP error \d/.test(text) ? { type: "failed" } : null;
  const error = isPlainObject(json) && isPlainObject(json.error) ? json.error : {};
  const reason = typeof error.message === "string" ? error.message : undefined;
  return {
    type: error.code === "WorkflowNotFound" ? "gone" : "failed",
    ...(reason !== undefined && { reason }),
  };
}
