import type { Payload } from "../../../../src/features/webhooks/json.ts";
import { eventHeaders, providerOf } from "../deliveries.ts";
import { mintlifyBuild, slackMention, stripeEvent } from "../payloads.ts";

test("Slack's URL verification is answered, and no event is", () => {
  const ping = { type: "url_verification", challenge: "3eZ" };
  const slack = providerOf("slack");
  expect(slack.answerPing?.(ping, {})).toEqual({ challenge: "3eZ" });
  expect(slack.answerPing?.(slackMention, {})).toBeNull();
});

test.each([
  ["GitHub's ping of an organization", "github", "ping", { zen: "Keep it simple." }],
  ["Slack's notice of a rate limit", "slack", "", { type: "app_rate_limited", team_id: "T1" }],
  ["Stripe's ping of a destination", "stripe", "", { type: "v2.core.event_destination.ping" }],
])("%s is answered and is not an event", (_what, type, event, payload) =>
  expect(providerOf(type).answerPing?.(payload, eventHeaders(type, event))).not.toBeNull(),
);

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
