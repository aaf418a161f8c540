import { formFields, isForm, parseJsonBody, parsePayloadField, text, texts } from "../json.ts";
import type { Parsed, Payload } from "../json.ts";
import type {
  EventDescription,
  FilterRules,
  Provider,
  Request,
  ToSign,
  Verdict,
} from "../provider.ts";
import { header, hmac, refused, secondsToMs, verifyHex, verifyTime } from "../signature.ts";
import { commonFilters } from "../provider.ts";
import { valueAt } from "../../../../streams/where.ts";

const signatureHeader = "x-slack-signature";
const timestampHeader = "x-slack-request-timestamp";

const filters: FilterRules = {
  channels: { kind: "strings", meaning: "Specific channels, by their Slack ID" },
  teams: {
    kind: "strings",
    meaning: "Specific workspaces or Enterprise Grid organizations, by their Slack ID",
  },
  events: {
    kind: "strings",
    meaning:
      "Event types: app_mention, message, reaction_added, slash_command and so on; also the types of interactive payloads, such as block_actions and view_submission",
  },
  actions: {
    kind: "strings",
    meaning:
      "Subtypes of a message event, such as message_changed; the command of a slash command, such as `/deploy`; the action ID or callback ID of an interactive payload",
  },
  author: {
    kind: "string",
    meaning: "Only for this user, by Slack ID; for an edited or deleted message, its writer",
  },
  ...commonFilters,
};

/** An edited and a deleted message are inside of the event. */
const messages = ["event", "event.message", "event.previous_message"] as const;
const of = (field: string): string[] => messages.map((message) => `${message}.${field}`);
const writers = [...of("user"), "event.user.id", "user_id", "user.id"];
const bots = of("bot_id");

/**
 * Slack's Events API, slash commands and interactive payloads: `v0=<hex HMAC-SHA256>` over `v0:timestamp:body`, the timestamp in unix seconds within five
 * minutes. https://docs.slack.dev/authentication/verifying-requests-from-slack and
 * https://docs.slack.dev/apis/events-api (envelope, `event_id`, `url_verification`),
 * https://docs.slack.dev/interactivity/implementing-slash-commands (a form, `ssl_check`) and
 * https://docs.slack.dev/reference/interaction-payloads (a form whose field `payload` is JSON)
 */
export const slack: Provider = {
  type: "slack",
  about: {
    proof: "`X-Slack-Signature`: HMAC-SHA256 over time and body, at most 5 minutes old",
    note: "URL verification is answered automatically. A message starts an agent once, although Slack sends a mention twice, as `message` and as `app_mention`. Slash commands and interactive payloads are events of the same source. Slack shows no answer to them, so let the agent answer at their `response_url`.",
  },
  secretHeaders: [signatureHeader],
  secretPaths: ["response_url"],
  keptHeaders: [timestampHeader],
  filters,
  verify,
  sign,
  parse,
  deliveryId: (payload) => text(payload, "event_id", "trigger_id"),
  isKnownByBody: true,
  dedupKey,
  answerPing: (payload) => {
    if (payload.type === "url_verification") return { challenge: text(payload, "challenge") };
    return payload.ssl_check === "1" || isRateLimit(payload) ? {} : null;
  },
  warning: (payload) =>
    isRateLimit(payload)
      ? "Slack does not send all events of the app, which has more than 30,000 in an hour"
      : null,
  isAnsweredEmpty: (headers) => isForm(header(headers, "content-type")),
  describe,
};

/** https://docs.slack.dev/apis/events-api/#rate-limiting */
const isRateLimit = ({ type }: Payload): boolean => type === "app_rate_limited";

/** Types of events that Slack sends of one message. */
const sentOfMessage: ReadonlySet<unknown> = new Set(["message", "app_mention"]);

/**
 * Identifies a new message, which comes once as each type, each with an `event_id` of its own. A mention that an edit adds
 * is an event of its own. https://docs.slack.dev/reference/events/app_mention
 */
function dedupKey(payload: Payload): string | null {
  const [channel, ts] = [text(payload, "event.channel"), text(payload, "event.ts")];
  const isAboutOther =
    valueAt(payload, "event.message") ?? valueAt(payload, "event.previous_message");
  if (!sentOfMessage.has(valueAt(payload, "event.type")) || isAboutOther) return null;
  if (channel === null || ts === null) return null;
  const edited = text(payload, "event.edited.ts");
  return [channel, ts, ...(edited === null ? [] : [edited])].join(" ");
}

/** A slash command is its form's fields. */
function parse({ headers, body }: Request): Parsed {
  if (!isForm(header(headers, "content-type"))) return parseJsonBody(body);
  const form = formFields(body);
  return form.has("payload")
    ? parsePayloadField(form)
    : { ok: true, payload: Object.fromEntries(form) };
}

function describe(payload: Payload): EventDescription {
  const type = text(payload, "event.type", "type");
  return {
    event: type ?? (text(payload, "command") === null ? "unknown" : "slash_command"),
    action: text(
      payload,
      "event.subtype",
      "command",
      "actions.0.action_id",
      "callback_id",
      "view.callback_id",
    ),
    body: text(payload, ...of("text"), "text", "actions.0.value", "message.text"),
    // A bot's message may have no user.
    author: text(payload, ...writers, ...bots),
    sender: text(payload, "event.message.edited.user", ...writers, ...bots),
    attributes: {
      channels: text(
        payload,
        "event.channel",
        "event.item.channel",
        "event.channel.id",
        "channel_id",
        "channel.id",
        "container.channel_id",
      ),
      teams: teams(payload),
      senderIsBot: text(payload, ...bots) !== null,
    },
  };
}

/** Events of an organization's app may name their workspace in the app's authorization only. */
function teams(payload: Payload): readonly string[] {
  const team = text(payload, "team_id", "team.id");
  const authorized = team === null ? ["authorizations[].team_id", "context_team_id"] : [];
  const organizations = ["enterprise_id", "enterprise.id", "authorizations[].enterprise_id"];
  return texts(payload, "team_id", "team.id", ...authorized, ...organizations);
}

function verify({ headers, body }: Request, secret: string, now: number): Verdict {
  const timestamp = header(headers, timestampHeader);
  if (timestamp === null) return refused("no timestamp");
  const given = header(headers, signatureHeader);
  const signed = verifyHex(given, "v0=", secret, `v0:${timestamp}:`, body);
  return signed.ok ? verifyTime(secondsToMs(timestamp), now) : signed;
}

function sign({ secret, body, now }: ToSign): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    [timestampHeader]: timestamp,
    [signatureHeader]: `v0=${hmac(secret, `v0:${timestamp}:`, body).toString("hex")}`,
  };
}
