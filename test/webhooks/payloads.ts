import type { Payload } from "../../src/webhooks/json.ts";

/** Payloads in the shape of each provider's documentation. */
export const sentryPayloads = {
  event_alert: {
    action: "triggered",
    installation: { uuid: "24b3ee1b" },
    data: {
      event: {
        culprit: "raven.scripts.runner in main",
        event_id: "4d1b9d0a",
        issue_id: "1170820242",
        message: "This is an example error",
        project: 1,
        title: "This is an example error",
        url: "https://sentry.io/api/0/projects/test-org/front-end/events/4d1b9d0a/",
        web_url: "https://sentry.io/organizations/test-org/issues/1170820242/events/4d1b9d0a/",
      },
      triggered_rule: "Very Important Alert Rule!",
    },
    actor: { id: "sentry", name: "Sentry", type: "application" },
  },
  metric_alert: {
    action: "critical",
    data: {
      metric_alert: { id: "43", projects: ["test-project"], status: 20, title: "Alert on users" },
      description_text: "5000 events in the last 10 minutes",
      description_title: "Critical: Too many errors",
      web_url: "https://sentry.io/organizations/test-org/alerts/rules/details/4/",
    },
    actor: { id: "sentry", name: "Sentry", type: "application" },
  },
  issue: {
    action: "assigned",
    data: {
      issue: {
        id: "1170820242",
        culprit: "?(runner)",
        title: "ReferenceError: blooopy is not defined",
        project: { id: "1", name: "front-end", slug: "front-end" },
        web_url: "https://sentry.io/organizations/test-org/issues/1170820242/",
      },
    },
    actor: { type: "user", id: 1, name: "Meredith Heller" },
  },
  error: {
    action: "created",
    data: {
      error: {
        culprit: "?(runner)",
        message: "blooopy is not defined",
        project: 1,
        title: "ReferenceError: blooopy is not defined",
        url: "https://sentry.io/api/0/projects/test-org/front-end/events/e48/",
        web_url: "https://sentry.io/organizations/test-org/issues/1117540176/events/e48/",
      },
    },
    actor: { id: "sentry", name: "Sentry", type: "application" },
  },
  comment: {
    action: "created",
    data: {
      comment: "adding a comment",
      project_slug: "sentry",
      comment_id: 1234,
      issue_id: 100,
      timestamp: "2022-03-02T21:51:44.118160Z",
    },
    actor: { type: "user", id: 8, name: "cathy.teng" },
  },
  installation: {
    action: "created",
    actor: { id: 1, name: "Meredith Heller", type: "user" },
    data: {
      installation: {
        status: "pending",
        organization: { slug: "test-org" },
        app: { uuid: "2ebf071f", slug: "webhooks-galore" },
        uuid: "a8e5d37a",
      },
    },
    installation: { uuid: "a8e5d37a" },
  },
} as const satisfies Record<string, Payload>;

export const linearIssue = {
  action: "update",
  actor: { id: "b5ea5f1f", type: "user", name: "Jane", email: "Jane@example.com" },
  createdAt: "2026-11-21T00:00:00.000Z",
  data: {
    id: "2174add1",
    number: 1778,
    title: "Foo bar",
    description: "It broke",
    labels: [
      { id: "1", name: "Bug" },
      { id: "2", name: "P1" },
    ],
    assignee: { id: "3", name: "Sam", email: "sam@example.com" },
    creator: { id: "4", name: "Kim", email: "kim@example.com" },
  },
  url: "https://linear.app/acme/issue/LIN-1778/foo-bar",
  type: "Issue",
  organizationId: "5e7d1b9a",
  webhookTimestamp: 1_676_056_940_508,
} as const satisfies Payload;

export const linearComment = {
  action: "create",
  actor: { id: "b5ea5f1f", type: "user", name: "Jane", email: "jane@example.com" },
  data: {
    id: "2174add2",
    body: "Indeed",
    user: { id: "5", name: "Jane", email: "jane@example.com" },
    issue: { id: "2174add1", title: "Foo bar" },
  },
  url: "https://linear.app/acme/issue/LIN-1778/foo-bar#comment-2174add2",
  type: "Comment",
  organizationId: "5e7d1b9a",
  webhookTimestamp: 1_676_056_940_508,
} as const satisfies Payload;

export const mintlifyBuild = {
  event: "build",
  status: "failed",
  project: "docs",
  git: { branch: "main" },
  error: "unexpected token",
  user: { email: "ci@example.com" },
} as const satisfies Payload;

export const gitlabMergeRequest = {
  object_kind: "merge_request",
  user: { id: 1, name: "Administrator", username: "root" },
  project: { path_with_namespace: "Acme/Web", web_url: "https://gitlab.example/acme/web" },
  object_attributes: {
    iid: 7,
    title: "MS-Viewport",
    description: "Adds it",
    target_branch: "main",
    source_branch: "ms-viewport",
    action: "open",
    url: "https://gitlab.example/acme/web/-/merge_requests/7",
  },
  labels: [{ id: 206, title: "API" }],
  assignees: [{ id: 6, username: "Alice" }],
} as const satisfies Payload;

export const gitlabPipeline = {
  object_kind: "pipeline",
  object_attributes: { id: 31, ref: "main", tag: false, status: "failed" },
  user: { username: "project_42_bot_9a8b" },
  project: { path_with_namespace: "acme/web", web_url: "https://gitlab.example/acme/web" },
} as const satisfies Payload;

export const slackMention = {
  token: "unused",
  team_id: "T123ABC456",
  type: "event_callback",
  event_id: "Ev123ABC456",
  event_time: 1_234_567_890,
  event: {
    type: "app_mention",
    user: "U123ABC456",
    text: "What is the hour of the pearl, <@U0LAN0Z89>?",
    channel: "C123ABC456",
    ts: "1515449522.000016",
  },
} as const satisfies Payload;

export const stripeEvent = {
  id: "evt_1NG8Du2eZvKYlo2CUI79vXWy",
  object: "event",
  type: "customer.subscription.created",
  account: "acct_1",
  livemode: false,
  data: { object: { id: "sub_1", object: "subscription", description: "Gold" } },
} as const satisfies Payload;

export const standardEvent = {
  type: "contact.created",
  action: "created",
  timestamp: "2022-11-03T20:26:10.344522Z",
  sender: "crm",
  data: { id: "1f81eb52", name: "Ann" },
} as const satisfies Payload;
