import type { HmacSender } from "../hmac-sender.ts";

/**
 * Jira: the body's `timestamp` in ms is signed. Five retries, each up to 15 minutes after the one before, repeat the
 * body, and the first try may come 15 minutes late. https://developer.atlassian.com/cloud/jira/platform/webhooks/
 */
export const jira: HmacSender = {
  type: "jira",
  about: {
    proof:
      "`X-Hub-Signature`: HMAC-SHA256 of the raw body. Its `timestamp` may be 2 hours old, because retries repeat the first one",
    note: "For webhooks with a secret from Jira's administration. Webhooks of apps are signed otherwise.",
  },
  signature: "x-hub-signature",
  prefix: "sha256=",
  id: "header:x-atlassian-webhook-identifier",
  event: "webhookEvent",
  action: "issue_event_type_name",
  time: "timestamp",
  tolerance: "2h",
  fields: {
    repository: "issue.fields.project.key project.key",
    number: "issue.key",
    title: "issue.fields.summary",
    body: "comment.body issue.fields.description",
    url: "issue.self comment.self",
    author: "comment.author.displayName issue.fields.reporter.displayName",
    sender:
      "user.displayName user.accountId user.emailAddress comment.updateAuthor.displayName comment.updateAuthor.accountId",
    labels: "issue.fields.labels[]",
  },
  meanings: {
    repos: "Specific projects, by their key",
    events: "Event types: jira:issue_created, jira:issue_updated, comment_created and so on",
    actions: "The `issue_event_type_name`: issue_assigned, issue_commented and so on",
    author: "Only for the writer of the comment, else the issue's reporter, by name",
  },
  more: {
    assignee: {
      kind: "string",
      meaning: "Only when assigned to this user, by name, account ID or e-mail",
      at: "issue.fields.assignee.displayName issue.fields.assignee.accountId issue.fields.assignee.emailAddress",
    },
  },
};

/**
 * PagerDuty's v3 webhooks: `X-PagerDuty-Signature: v1=<hex>[,v1=<hex>]`, one for each secret while it is rotated.
 * https://developer.pagerduty.com/docs/verifying-webhook-signatures and webhooks-overview
 */
export const pagerduty: HmacSender = {
  type: "pagerduty",
  about: {
    proof: "`X-PagerDuty-Signature`: HMAC-SHA256 of the raw body, one for each secret",
    note: "For webhook subscriptions (v3).",
  },
  signature: "x-pagerduty-signature",
  prefix: "v1=",
  id: "event.id",
  event: "event.event_type",
  pings: ["pagey.ping"],
  fields: {
    number: "event.data.number",
    title: "event.data.title event.data.incident.summary event.data.summary",
    body: "event.data.content event.data.message",
    url: "event.data.html_url event.data.incident.html_url",
    sender: "event.agent.summary event.agent.id",
  },
  meanings: {
    events: "Event types: incident.triggered, incident.resolved, service.updated and so on",
    actions: "Last part of the event type: triggered, resolved and so on",
  },
  more: {
    services: {
      kind: "strings",
      meaning: "Specific services, by name or ID",
      at: "event.data.service.summary event.data.service.id",
    },
    urgency: { kind: "string", meaning: "high or low", at: "event.data.urgency" },
  },
};

/**
 * Shopify: base64 with the app's client secret. Topic, shop and ID are headers that are not signed.
 * https://shopify.dev/docs/apps/build/webhooks/subscribe/https and ../ignore-duplicates
 */
export const shopify: HmacSender = {
  type: "shopify",
  about: {
    proof: "`X-Shopify-Hmac-Sha256`: HMAC-SHA256 of the raw body with the app's client secret",
    note: null,
  },
  signature: "x-shopify-hmac-sha256",
  encoding: "base64",
  // These addresses log in as the customer.
  secretPaths: ["order_status_url", "abandoned_checkout_url"],
  id: "header:x-shopify-webhook-id",
  event: "header:x-shopify-topic",
  exampleEvent: "orders/create",
  fields: {
    repository: "header:x-shopify-shop-domain",
    number: "order_number",
    title: "name title",
    body: "note",
    author: "email",
  },
  meanings: {
    repos: "Specific shops, as `name.myshopify.com`",
    events: "Topics: orders/create, products/update and so on",
    actions: "Last part of the topic: create, update and so on",
    author: "Only for this customer, by e-mail",
  },
};
