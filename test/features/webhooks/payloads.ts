import type { Payload } from "../../../src/features/webhooks/json.ts";

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

/** A comment on an issue and one on a merge request, as on GitLab's page of comment events. */
export const gitlabIssueNote = {
  object_kind: "note",
  event_type: "note",
  user: { id: 1, name: "Administrator", username: "service_account_group_9_7d2c" },
  project: { path_with_namespace: "gitlab-org/gitlab-test" },
  object_attributes: { id: 1241, note: "Hello world", noteable_type: "Issue", action: "create" },
  issue: {
    id: 92,
    title: "test",
    assignee_ids: [],
    assignee_id: null,
    iid: 17,
    state: "closed",
    labels: [{ id: 25, title: "Afterpod", color: "#3e8068", type: "GroupLabel" }],
  },
} as const satisfies Payload;
export const gitlabMergeRequestNote = {
  object_kind: "note",
  event_type: "note",
  user: { id: 1, name: "Administrator", username: "root" },
  project: { path_with_namespace: "gitlab-org/gitlab-test" },
  object_attributes: { id: 1244, note: "This MR needs work.", noteable_type: "MergeRequest" },
  merge_request: {
    id: 7,
    iid: 1,
    target_branch: "markdown",
    title: "Tempora et eos",
    labels: [{ id: 206, title: "Afterpod", type: "GroupLabel" }],
    assignee: { name: "User1", username: "user1" },
  },
} as const satisfies Payload;

/** An edit by its writer, as on Slack's page of `message_changed`; and an app's own edit by `chat.update`. */
export const slackEdit = {
  token: "XXYYZZ",
  team_id: "T123ABC456",
  event: {
    type: "message",
    subtype: "message_changed",
    hidden: true,
    channel: "C123ABC456",
    ts: "1358878755.000001",
    message: {
      type: "message",
      user: "U123ABC456",
      text: "Hello, world!",
      ts: "1355517523.000005",
      edited: { user: "U123ABC456", ts: "1358878755.000001" },
    },
  },
  type: "event_callback",
  event_id: "Ev123ABC456",
} as const satisfies Payload;
export const slackBotEdit = {
  ...slackEdit,
  event: {
    ...slackEdit.event,
    message: { ...slackEdit.event.message, bot_id: "B1", app_id: "A1", user: "U0BOT" },
  },
} as const satisfies Payload;

/** A click on a button, as on Slack's page of `block_actions`. */
export const slackBlockActions = {
  type: "block_actions",
  team: { id: "T9TK3CUKW", domain: "example" },
  user: { id: "UA8RXUSPL", username: "jtorrance", team_id: "T9TK3CUKW" },
  api_app_id: "AABA1ABCD",
  token: "9s8d9as89d8as9d8as989",
  container: { type: "message", message_ts: "1548261231.000200", channel_id: "CBR2V3XEX" },
  trigger_id: "12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3",
  channel: { id: "CBR2V3XEX", name: "review-updates" },
  message: { bot_id: "BAH5CA16Z", type: "message", text: "This content can't be displayed." },
  response_url: "https://hooks.slack.com/actions/AABA1ABCD/1232321423432/D09sSasdasdAS9091209",
  actions: [{ action_id: "WaXA", block_id: "=qXel", value: "click_me_123", type: "button" }],
} as const satisfies Payload;

/** The form of Slack's published slash command. */
export const slackCommand =
  "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";

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
