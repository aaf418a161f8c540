import { valueAt } from "../../../../streams/where.ts";
import { integer, parseObject, text, texts, type Payload } from "../json.ts";
import type { EventDescription, FilterRules, Provider, Request, Verdict } from "../provider.ts";
import { header, hmac, verifyHex, verifyTime } from "../signature.ts";
import { commonFilters } from "../provider.ts";

const signatureHeader = "linear-signature";
const eventHeader = "linear-event";
const deliveryHeader = "linear-delivery";
/** Linear sends its last retry 6 h after the first try, with the same body and so the same time. */
const windowMs = 7 * 3_600_000;

const filters: FilterRules = {
  organizations: { kind: "strings", meaning: "Specific organizations, by their Linear ID" },
  events: { kind: "strings", meaning: "Event types: issues, issue_comment, project and so on" },
  actions: {
    kind: "strings",
    meaning: "Actions: create, update, remove (or its alias delete)",
    aliases: { delete: "remove" },
  },
  labels: {
    kind: "strings",
    meaning: "Only when the issue has any of these labels; comments have no labels",
  },
  assignee: {
    kind: "string",
    meaning: "The issue's assignee, by e-mail; comments have no assignee",
    ignoreCase: true,
  },
  author: {
    kind: "string",
    meaning: "The issue's creator or the comment's writer, by e-mail",
    ignoreCase: true,
  },
  ...commonFilters,
};

/**
 * Linear: bare hex HMAC-SHA256 of the raw body; the time to trust is the body's `webhookTimestamp` in ms.
 * https://linear.app/developers/webhooks
 */
export const linear: Provider = {
  type: "linear",
  about: {
    proof:
      "`Linear-Signature`: HMAC-SHA256 of the raw body. Its `webhookTimestamp` may be 7 hours old, because retries repeat the first one",
    note: "Comments do not contain the labels or the assignee of their issue, so these filters match no comment.",
  },
  secretHeaders: [signatureHeader],
  keptHeaders: [eventHeader, deliveryHeader],
  filters,
  verify,
  sign: ({ secret, body, id, event }) => ({
    [signatureHeader]: hmac(secret, body).toString("hex"),
    [deliveryHeader]: id,
    ...(event === null ? {} : { [eventHeader]: event }),
  }),
  atTime,
  deliveryId: (_payload, headers) => header(headers, deliveryHeader),
  isKnownByBody: true,
  describe,
};

function verify({ headers, body }: Request, secret: string, now: number): Verdict {
  const signed = verifyHex(header(headers, signatureHeader), "", secret, body);
  const payload = signed.ok ? parseObject(body) : null;
  // `parse` rejects a signed body that is not JSON.
  if (payload === null) return signed;
  const time = valueAt(payload, "webhookTimestamp");
  return verifyTime(typeof time === "number" ? time : Number.NaN, now, windowMs);
}

function atTime(body: Uint8Array, now: number): Uint8Array {
  const payload = parseObject(body);
  return payload === null
    ? body
    : Buffer.from(JSON.stringify({ ...payload, webhookTimestamp: now }));
}

function describe(payload: Payload): EventDescription {
  return {
    event: eventOf(payload),
    action: text(payload, "action"),
    number: integer(payload, "data.number", "data.issue.number"),
    title: text(payload, "data.title", "data.name", "data.issue.title"),
    body: text(payload, "data.body", "data.description"),
    url: text(payload, "url", "data.url"),
    author: text(payload, "data.creator.email", "data.user.email"),
    labels: texts(payload, "data.labels[].name"),
    sender: text(payload, "actor.email", "actor.name"),
    attributes: {
      organizations: text(payload, "organizationId"),
      assignee: text(payload, "data.assignee.email"),
      senderIsBot: isBot(payload),
    },
  };
}

/** `Issue` and `Comment` have the names that filters use; other types are written in the same way: `IssueLabel` is `issue_label`. */
function eventOf(payload: Payload): string {
  const type = text(payload, "type") ?? "unknown";
  if (type === "Issue") return "issues";
  if (type === "Comment") return "issue_comment";
  return type.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
}

function isBot(payload: Payload): boolean {
  const type = text(payload, "actor.type");
  return type !== null && type.toLowerCase() !== "user";
}
