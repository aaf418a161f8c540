import { text } from "../json.ts";
import type { FilterRules, Provider, Request, ToSign, Verdict } from "../provider.ts";
import { header, hmac, refused, secondsToMs, verifyHex, verifyTime } from "../signature.ts";
import { commonFilters } from "./common-filters.ts";

const signatureHeader = "x-slack-signature";
const timestampHeader = "x-slack-request-timestamp";
const windowMs = 300_000;

const filters: FilterRules = {
  channels: { kind: "strings", meaning: "Specific channels, by their Slack id" },
  teams: { kind: "strings", meaning: "Specific workspaces, by their Slack id" },
  events: {
    kind: "strings",
    meaning: "Event types: app_mention, message, reaction_added and so on",
  },
  actions: { kind: "strings", meaning: "Subtypes of a message event: message_changed and so on" },
  author: { kind: "string", meaning: "Only for this user, by Slack id" },
  ...commonFilters,
};

/**
 * Slack's Events API: `v0=<hex HMAC-SHA256>` over `v0:timestamp:body`, the timestamp in unix seconds within five
 * minutes. https://docs.slack.dev/authentication/verifying-requests-from-slack and
 * https://docs.slack.dev/apis/events-api (envelope, `event_id`, `url_verification`)
 */
export const slack: Provider = {
  type: "slack",
  about: {
    proof: "`X-Slack-Signature`: HMAC-SHA256 over time and body, within 5 minutes",
    note: "URL verification is answered by itself.",
  },
  secretHeaders: [signatureHeader],
  keptHeaders: [timestampHeader],
  filters,
  verify,
  sign,
  deliveryId: (payload) => text(payload, "event_id"),
  answerPing: (payload) =>
    payload.type === "url_verification" ? { challenge: text(payload, "challenge") } : null,
  describe: (payload) => {
    // A bot's message may have no user.
    const sender = text(payload, "event.user", "event.user.id", "event.bot_id");
    return {
      event: text(payload, "event.type", "type") ?? "unknown",
      action: text(payload, "event.subtype"),
      body: text(payload, "event.text"),
      author: sender,
      sender,
      attributes: {
        channels: text(payload, "event.channel", "event.item.channel", "event.channel.id"),
        teams: text(payload, "team_id"),
        senderIsBot: text(payload, "event.bot_id") !== null,
      },
    };
  },
};

function verify({ headers, body }: Request, secret: string, now: number): Verdict {
  const timestamp = header(headers, timestampHeader);
  if (timestamp === null) return refused("no timestamp");
  const given = header(headers, signatureHeader);
  const signed = verifyHex(given, "v0=", secret, `v0:${timestamp}:`, body);
  return signed.ok ? verifyTime(secondsToMs(timestamp), now, windowMs) : signed;
}

function sign({ secret, body, now }: ToSign): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    [timestampHeader]: timestamp,
    [signatureHeader]: `v0=${hmac(secret, `v0:${timestamp}:`, body).toString("hex")}`,
  };
}
