import { cut, severityMarks, type TargetMessage } from "../target.ts";

/** A message of an incoming webhook or of an app. */
export function slackMessage(message: TargetMessage) {
  return {
    text: slackText(summary(message)),
    blocks: [
      {
        type: "header",
        text: { type: "plain_text", text: cut(heading(message), 150), emoji: false },
      },
      // Texts of `rich_text` are plain: in mrkdwn `*` and `_` have no escape.
      {
        type: "rich_text",
        elements: [{ type: "rich_text_section", elements: sectionOf(message) }],
      },
    ],
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
  };
}

function heading({ severity, title }: TargetMessage): string {
  return `${severityMarks[severity]} ${title}`;
}

/** The text in a phone's notification. */
function summary(message: TargetMessage): string {
  const { reason } = message.alert;
  return reason === null ? heading(message) : `${heading(message)}: ${reason}`;
}

/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
function sectionOf({ lines, url, linkLabel }: TargetMessage) {
  const written = lines.flatMap(({ label, text }) => [
    { type: "text", text: label, style: { bold: true } },
    { type: "text", text: ` ${text}\n` },
  ]);
  return [...written, ...(url === null ? [] : [{ type: "link", url, text: linkLabel }])];
}

/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
export function slackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
