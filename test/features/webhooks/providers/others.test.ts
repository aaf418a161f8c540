import type { WebhookBinding } from "../../../../streams/agent-config.ts";
import { createMatchIndex } from "../../../../src/features/webhooks/match-index.ts";
import { eventHeaders, providerOf, read } from "../deliveries.ts";
import * as payloads from "../payloads.ts";

test.each([
  ["event_alert", { title: "This is an example error", action: "triggered", repo: "front-end" }],
  [
    "metric_alert",
    { repo: "test-project", title: "Critical: Too many errors", action: "critical" },
  ],
  ["issue", { repo: "front-end", number: 1_170_820_242, sender: "Meredith Heller" }],
  ["error", { body: "blooopy is not defined", title: "ReferenceError: blooopy is not defined" }],
  ["comment", { repo: "sentry", number: 100, body: "adding a comment", author: "cathy.teng" }],
  ["installation", { repo: null, number: null, action: "created", sender: "Meredith Heller" }],
] as const)("a Sentry %s is normalized", (resource, expected) => {
  const payload = payloads.sentryPayloads[resource];
  const { event } = read("sentry", payload, eventHeaders("sentry", resource));
  expect(event).toMatchObject({ event: resource, ...expected });
});

test.each([
  ["event_alert", "triggered", ["front-end", "1"]],
  ["metric_alert", "critical", ["test-project"]],
  ["issue", "assigned", ["front-end", "1"]],
  ["error", "created", ["front-end", "1"]],
  ["comment", "created", ["sentry"]],
  ["installation", "created", []],
] as const)(
  "a Sentry %s is identified by its action and its project",
  (resource, action, names) => {
    const index = createMatchIndex();
    const listen = (name: string, filters: WebhookBinding["filters"]): void =>
      index.set(
        { name, scale: 1, webhooks: [{ source: "errors", type: "sentry", filters }] },
        true,
      );
    listen("by-action", { actions: [action] });
    listen("by-other-action", { actions: ["ignored"] });
    for (const name of names) listen(`by-${name}`, { project: name });
    listen("by-other-project", { project: "back-end" });
    const payload = payloads.sentryPayloads[resource];
    const seen = read("sentry", payload, eventHeaders("sentry", resource));
    const { matched } = index.match("errors", { ...seen, payload });
    expect(matched).toEqual([...names.map((name) => `by-${name}`), "by-action"].sort());
  },
);

test("an action of Sentry itself does not count as a bot's, an integration's does", () => {
  const botOf = (id: string): unknown =>
    read("sentry", { actor: { type: "application", id, name: "x" } }).attributes.senderIsBot;
  expect([botOf("sentry"), botOf("7a485448")]).toEqual([false, true]);
});

test("a Linear issue and a comment have the names and e-mails that filters use", () => {
  expect(read("linear", payloads.linearIssue).event).toMatchObject({
    event: "issues",
    action: "update",
    number: 1778,
    title: "Foo bar",
    body: "It broke",
    author: "kim@example.com",
    sender: "Jane@example.com",
    labels: ["Bug", "P1"],
  });
  const comment = read("linear", payloads.linearComment);
  expect(comment.event).toMatchObject({
    event: "issue_comment",
    title: "Foo bar",
    body: "Indeed",
    author: "jane@example.com",
    labels: [],
  });
  expect(comment.attributes).toMatchObject({ labels: [], assignee: null });
});

test.each([
  ["Issue", "issues"],
  ["Comment", "issue_comment"],
  ["Attachment", "attachment"],
  ["Document", "document"],
  ["Initiative", "initiative"],
  ["InitiativeUpdate", "initiative_update"],
  ["Customer", "customer"],
  ["CustomerNeed", "customer_need"],
  ["User", "user"],
  ["IssueSLA", "issue_sla"],
  ["OAuthApp", "oauth_app"],
  ["Project", "project"],
  ["IssueLabel", "issue_label"],
  ["Cycle", "cycle"],
  ["ProjectUpdate", "project_update"],
  ["Reaction", "reaction"],
])("Linear's type %s is the event %s", (type, event) => {
  expect(read("linear", { ...payloads.linearIssue, type }).event.event).toBe(event);
});

test("a Mintlify build has its project, branch and conclusion; its event is a build unless it names another", () => {
  expect(read("mintlify", payloads.mintlifyBuild).event).toMatchObject({
    event: "build",
    action: "failed",
    repo: "docs",
    branch: "main",
    conclusion: "failed",
    body: "unexpected token",
  });
  expect(read("mintlify", { status: "started" }).event).toMatchObject({
    event: "build",
    action: "started",
    conclusion: null,
  });
});

test("a GitLab merge request has its target branch, a pipeline its status", () => {
  expect(read("gitlab", payloads.gitlabMergeRequest).event).toMatchObject({
    event: "merge_request",
    action: "open",
    repo: "Acme/Web",
    number: 7,
    branch: "main",
    labels: ["API"],
    sender: "root",
  });
  const pipeline = read("gitlab", payloads.gitlabPipeline);
  expect(pipeline.event).toMatchObject({ branch: "main", conclusion: "failed" });
  expect(pipeline.attributes.senderIsBot).toBe(true);
  const tagged = { object_attributes: { ref: "v1", tag: true }, object_kind: "pipeline" };
  expect(read("gitlab", tagged).event.branch).toBeNull();
  // A pipeline of a merge request runs on its source.
  const merging = { merge_request: { target_branch: "main", source_branch: "fix" } };
  const own = {
    ...merging,
    object_kind: "pipeline",
    object_attributes: { ref: "fix", tag: false },
  };
  expect(read("gitlab", own).event.branch).toBe("fix");
  const job = { object_kind: "build", ref: "main", tag: false };
  expect(read("gitlab", job).event.branch).toBe("main");
  expect(read("gitlab", { ...job, tag: true }).event.branch).toBeNull();
});

test("a Slack envelope gives its inner event, and its verification is answered", () => {
  expect(read("slack", payloads.slackMention).event).toMatchObject({
    event: "app_mention",
    sender: "U123ABC456",
    body: "What is the hour of the pearl, <@U0LAN0Z89>?",
  });
  const slack = providerOf("slack");
  expect(slack.answerPing?.({ type: "url_verification", challenge: "3eZ" }, {})).toEqual({
    challenge: "3eZ",
  });
  expect(slack.answerPing?.(payloads.slackMention, {})).toBeNull();
});

test("a GitLab comment has the labels and the assignee of its issue or merge request", () => {
  expect(read("gitlab", payloads.gitlabIssueNote)).toMatchObject({
    event: { labels: ["Afterpod"], number: 17 },
    attributes: { assignee: [], senderIsBot: true },
  });
  expect(read("gitlab", payloads.gitlabMergeRequestNote)).toMatchObject({
    event: { labels: ["Afterpod"], number: 1 },
    attributes: { assignee: ["user1"], senderIsBot: false },
  });
});

test.each([
  ["project_42_bot_9a8b", true],
  ["group_7_bot", true],
  ["service_account_9a8b", true],
  ["service_account_group_345_9a8b", true],
  ["project_manager", false],
  ["my_service_account_x", false],
])("GitLab's user %s is a bot: %s", (username, isBot) => {
  expect(read("gitlab", { user: { username } }).attributes.senderIsBot).toBe(isBot);
});

test("a Stripe event and a Standard Webhooks event have their type", () => {
  expect(read("stripe", payloads.stripeEvent).event).toMatchObject({
    event: "customer.subscription.created",
    action: "created",
    title: "subscription sub_1",
  });
  expect(read("standard", payloads.standardEvent).event).toMatchObject({
    event: "contact.created",
    title: "Ann",
    sender: "crm",
  });
});

test("each provider's delivery id is found where its documentation puts it", () => {
  const id = (type: string, payload: object, headers: Record<string, string> = {}): unknown =>
    providerOf(type).deliveryId({ ...payload }, headers);
  expect(id("github", {}, { "x-github-delivery": "a" })).toBe("a");
  expect(id("sentry", {}, { "request-id": "b" })).toBe("b");
  expect(id("linear", {}, { "linear-delivery": "c" })).toBe("c");
  expect(id("slack", payloads.slackMention)).toBe("Ev123ABC456");
  expect(id("stripe", payloads.stripeEvent)).toBe("evt_1NG8Du2eZvKYlo2CUI79vXWy");
  expect(id("standard", {}, { "webhook-id": "d" })).toBe("d");
  expect(id("gitlab", {}, { "idempotency-key": "e", "webhook-id": "f" })).toBe("e");
  expect(id("mintlify", payloads.mintlifyBuild)).toBeNull();
});
