import payloads from "./payloads.json" with { type: "json" };

/** Payloads as the page of each provider shows them. */
export const {
  sentryPayloads,
  linearIssue,
  mintlifyBuild,
  gitlabMergeRequest,
  slackBlockActions,
  slackCommand,
  slackMention,
  stripeEvent,
  standardEvent,
  giteaPullRequest,
  bitbucketPush,
  jiraIssue,
} = payloads;
