import type { Payload } from "../../../../src/features/webhooks/json.ts";
import { providerOf } from "../deliveries.ts";
import { mintlifyBuild, slackMention, stripeEvent } from "../payloads.ts";

test("Slack's URL verification is answered, and no event is", () => {
  const ping = { type: "url_verification", challenge: "3eZ" };
  const slack = providerOf("slack");
  expect(slack.answerPing?.(ping, {})).toEqual({ challenge: "3eZ" });
  expect(slack.answerPing?.(slackMention, {})).toBeNull();
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
