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
