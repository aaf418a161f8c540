import payloads from "./payloads.json" with { type: "json" };

/** Payloads as the page of each provider shows them. */
export const {
  sentryPayloads,
  linearIssue,
  linearComment,
  mintlifyBuild,
  gitlabMergeRequest,
  gitlabPipeline,
  gitlabIssueNote,
  gitlabMergeRequestNote,
  slackEdit,
  slackBlockActions,
  slackCommand,
  slackMention,
  stripeEvent,
  standardEvent,
} = payloads;

/** An app's own edit by `chat.update`. */
export const slackBotEdit = {
  ...slackEdit,
  event: {
    ...slackEdit.event,
    message: { ...slackEdit.event.message, bot_id: "B1", app_id: "A1", user: "U0BOT" },
  },
};
