import { addressIn, cut, severityMarks } from "../target.ts";
import { httpTarget } from "../http-target.ts";
import type { TargetMessage } from "../target.ts";
/** Slack's answers for an address that is no longer valid. */
const goneReasons = [
  "channel_is_archived",
  "channel_not_found",
  "no_active_hooks",
  "no_service",
  "no_service_id",
  "no_team",
  "team_disabled",
];

/** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
export const slack = httpTarget({
  address: (fields) => addressIn(fields, "url"),
  body: (message) => ({
    text: escaped(summary(message)),
    blocks: [
      {
        type: "header",
        text: { type: "plain_text", text: cut(heading(message), 150), emoji: false },
      },
      // Its texts are plain: in mrkdwn `*` and `_` have no escape.
      {
        type: "rich_text",
        elements: [{ type: "rich_text_section", elements: sectionOf(message) }],
      },
    ],
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
  }),
  meaning: ({ status, text }) =>
    status >= 400 && goneReasons.includes(text.trim()) ? { type: "gone" } : null,
});

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
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
