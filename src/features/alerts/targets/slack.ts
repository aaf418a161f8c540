import { addressIn, type Fields, type TargetType } from "../target.ts";
import { httpTarget } from "../http-target.ts";
import { slackApp } from "./slack-app.ts";
import { slackMessage } from "./slack-message.ts";

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
const incomingWebhook = httpTarget({
  address: (fields) => addressIn(fields, "url"),
  body: slackMessage,
  meaning: ({ status, text }) =>
    status >= 400 && goneReasons.includes(text.trim()) ? { type: "gone" } : null,
});

/** An app, or an incoming webhook, by the target's credential. */
export const slack: TargetType = {
  check: (fields, target) => formOf(fields).check(fields, target),
  send: (attempt) => formOf(attempt.fields).send(attempt),
};

function formOf(fields: Fields): TargetType {
  return Object.hasOwn(fields, "bot_token") ? slackApp : incomingWebhook;
}
