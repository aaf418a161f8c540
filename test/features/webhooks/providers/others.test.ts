import type { WebhookEvent } from "../../../../streams/vocabulary.ts";
import type { Payload } from "../../../../src/features/webhooks/json.ts";
import { eventHeaders, providerOf, read } from "../deliveries.ts";
import {
  gitlabIssueNote,
  gitlabMergeRequest,
  gitlabMergeRequestNote,
  gitlabPipeline,
  linearComment,
  linearIssue,
  mintlifyBuild,
  sentryPayloads,
  slackMention,
  standardEvent,
  stripeEvent,
} from "../payloads.ts";

test.each<[string, string, readonly string[], Partial<WebhookEvent>]>([
  [
    "event_alert",
    "triggered",
    ["front-end", "1"],
    { title: "This is an example error", repo: "front-end" },
  ],
  [
    "metric_alert",
    "critical",
    ["test-project"],
    { repo: "test-project", title: "Critical: Too many errors" },
  ],
  [
    "issue",
    "assigned",
    ["front-end", "1"],
    { repo: "front-end", number: 1_170_820_242, sender: "Meredith Heller" },
  ],
  ["error", "created", ["front-end", "1"], { body: "blooopy is not defined" }],
  ["comment", "created", ["sentry"], { repo: "sentry", number: 100, body: "adding a comment" }],
  ["installation", "created", [], { repo: null, number: null, sender: "Meredith Heller" }],
])(
  "a Sentry webhook of %s is read with its action and every name of its project",
  (resource, action, project, event) => {
    const payload = sentryPayloads[resource as keyof typeof sentryPayloads];
    expect(read("sentry", payload, eventHeaders("sentry", resource))).toMatchObject({
      event: { event: resource, action, ...event },
      attributes: { resources: resource, actions: action, project },
    });
  },
);

test("a Sentry event caused by an integration counts as a bot's, one caused by Sentry itself does not", () => {
  const botOf = (id: string): unknown =>
    read("sentry", { actor: { type: "application", id, name: "x" } }).attributes.senderIsBot;
  expect([botOf("sentry"), botOf("7a485448")]).toEqual([false, true]);
});

test("events about a Linear issue and comment have the names and e-mails that filters use", () => {
  expect(read("linear", linearIssue).event).toMatchObject({
    number: 1778,
    title: "Foo bar",
    body: "It broke",
    sender: "Jane@example.com",
  });
  expect(read("linear", linearComment)).toMatchObject({
    event: { title: "Foo bar", body: "Indeed", author: "jane@example.com" },
    attributes: { labels: [], assignee: null },
  });
});

test.each([
  ["Issue", "issues"],
  ["Comment", "issue_comment"],
  ["InitiativeUpdate", "initiative_update"],
  ["IssueSLA", "issue_sla"],
  ["OAuthApp", "oauth_app"],
])("a Linear webhook of type %s is read as the event %s", (type, event) => {
  expect(read("linear", { ...linearIssue, type }).event.event).toBe(event);
});

test("a Mintlify webhook is read with the error, and with a conclusion if its build has ended", () => {
  const failed = { conclusion: "failed", body: "unexpected token" };
  expect(read("mintlify", mintlifyBuild).event).toMatchObject(failed);
  const started = { event: "build", action: "started", conclusion: null };
  expect(read("mintlify", { status: "started" }).event).toMatchObject(started);
});

test("an event about a GitLab merge request has its number and sender, about a pipeline the branch", () => {
  const request = { repo: "Acme/Web", number: 7, sender: "root" };
  expect(read("gitlab", gitlabMergeRequest).event).toMatchObject(request);
  expect(read("gitlab", gitlabPipeline)).toMatchObject({
    event: { branch: "main" },
    attributes: { senderIsBot: true },
  });
});

const pipeline = (ref: string, tag = false) => ({
  object_kind: "pipeline",
  object_attributes: { ref, tag },
});
const job = { object_kind: "build", ref: "main", tag: false };
test.each([
  ["pipeline of a tag is null", pipeline("v1", true), null],
  [
    "pipeline of a merge request is its source branch",
    { ...pipeline("fix"), merge_request: { target_branch: "main", source_branch: "fix" } },
    "fix",
  ],
  ["job is its ref", job, "main"],
  ["job of a tag is null", { ...job, tag: true }, null],
])("the branch of a GitLab %s", (_, payload, branch) => {
  expect(read("gitlab", payload).event.branch).toBe(branch);
});

test("a Slack webhook is read as the event inside it, and Slack's URL verification is answered", () => {
  expect(read("slack", slackMention).event).toMatchObject({
    sender: "U123ABC456",
    body: "What is the hour of the pearl, <@U0LAN0Z89>?",
  });
  const ping = { type: "url_verification", challenge: "3eZ" };
  const slack = providerOf("slack");
  expect(slack.answerPing?.(ping, {})).toEqual({ challenge: "3eZ" });
  expect(slack.answerPing?.(slackMention, {})).toBeNull();
});

test("an event about a GitLab comment has the labels and assignee of the issue or merge request", () => {
  expect(read("gitlab", gitlabIssueNote)).toMatchObject({
    event: { labels: ["Afterpod"], number: 17 },
    attributes: { assignee: [], senderIsBot: true },
  });
  expect(read("gitlab", gitlabMergeRequestNote)).toMatchObject({
    event: { labels: ["Afterpod"], number: 1 },
    attributes: { assignee: ["user1"], senderIsBot: false },
  });
});

test.each([
  ["project_42_bot_9a8b", true],
  ["group_7_bot", true],
  ["service_account_group_345_9a8b", true],
  ["project_manager", false],
  ["my_service_account_x", false],
])("a GitLab user named %s counts as a bot: %s", (username, isBot) =>
  expect(read("gitlab", { user: { username } }).attributes.senderIsBot).toBe(isBot),
);

test("the event of a Stripe or Standard Webhooks delivery has a title and the sender", () => {
  expect(read("stripe", stripeEvent).event).toMatchObject({
    title: "subscription sub_1",
  });
  expect(read("standard", standardEvent).event).toMatchObject({
    title: "Ann",
    sender: "crm",
  });
});

test.each<[string, Payload, Record<string, string>, string]>([
  ["github", {}, { "x-github-delivery": "a" }, "a"],
  ["sentry", {}, { "request-id": "b" }, "b"],
  ["linear", {}, { "linear-delivery": "c" }, "c"],
  ["slack", slackMention, {}, "Ev123ABC456"],
  ["stripe", stripeEvent, {}, "evt_1NG8Du2eZvKYlo2CUI79vXWy"],
  ["standard", {}, { "webhook-id": "d" }, "d"],
  ["gitlab", {}, { "idempotency-key": "e", "webhook-id": "f" }, "e"],
])(
  "the id of a delivery from %s is read from the documented header or payload field",
  (type, payload, headers, id) => expect(providerOf(type).deliveryId(payload, headers)).toBe(id),
);

test("the id of a delivery from Mintlify is null", () =>
  expect(providerOf("mintlify").deliveryId(mintlifyBuild, {})).toBeNull());
