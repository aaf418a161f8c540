import { valueAt } from "../../../../streams/where.ts";
import { text, texts, type Payload } from "../json.ts";
import type { FilterRules, Provider, Request, ToSign, Verdict } from "../provider.ts";
import { header, hmac, refused, sameHex, secondsToMs, verifyTime } from "../signature.ts";
import { commonFilters } from "../provider.ts";

const signatureHeader = "stripe-signature";
/** More IDs than a context has. */
const maxDepth = 10;

const filters: FilterRules = {
  accounts: {
    kind: "strings",
    meaning:
      "Specific connected accounts, by ID: an event's `account`, or each ID of its `context`",
  },
  events: { kind: "strings", meaning: "Event types: invoice.paid, customer.created and so on" },
  actions: { kind: "strings", meaning: "Last part of the event type: paid, created and so on" },
  livemode: { kind: "boolean", meaning: "Only live events (true) or only test events (false)" },
  ...commonFilters,
};

/**
 * Stripe: `Stripe-Signature: t=<unix s>,v1=<hex>[,v1=…]`, HMAC-SHA256 over `t.body`, within 300 s.
 * https://docs.stripe.com/webhooks#verify-manually
 */
export const stripe: Provider = {
  type: "stripe",
  about: {
    proof: "`Stripe-Signature`: HMAC-SHA256 over time and body, at most 5 minutes old",
    note: "An event starts an agent once, also if its retry has another body. Thin events contain no `data.object`: let the agent fetch their `related_object`.",
  },
  secretHeaders: [signatureHeader],
  keptHeaders: [],
  filters,
  verify,
  sign,
  deliveryId: (payload) => text(payload, "id"),
  // The body of a retry may differ in `pending_webhooks`. https://docs.stripe.com/webhooks#handle-duplicate-events
  dedupKey: (payload) => text(payload, "id"),
  answerPing: ({ type }) => (type === "v2.core.event_destination.ping" ? {} : null),
  describe: (payload) => {
    const event = text(payload, "type") ?? "unknown";
    return {
      event,
      action: /\.([^.]+)$/.exec(event)?.[1] ?? null,
      title: title(payload),
      body: text(payload, "data.object.description"),
      attributes: { accounts: accounts(payload), livemode: livemode(payload) },
    };
  },
};

function verify({ headers, body }: Request, secret: string, now: number): Verdict {
  const given = header(headers, signatureHeader);
  if (given === null) return refused("no signature");
  const { timestamp, signatures } = elements(given);
  if (timestamp === null) return refused("no timestamp");
  const expected = hmac(secret, `${timestamp}.`, body);
  // While a secret is rolled, each secret has a signature.
  if (!signatures.some((signature) => sameHex(signature, expected))) {
    return refused("signature does not match");
  }
  return verifyTime(secondsToMs(timestamp), now);
}

function elements(given: string): { timestamp: string | null; signatures: string[] } {
  const parts = given.split(",").map((part) => part.trim());
  const timestamp = parts.find((part) => part.startsWith("t="))?.slice(2) ?? null;
  const signatures = parts.filter((part) => part.startsWith("v1=")).map((part) => part.slice(3));
  return { timestamp, signatures };
}

function sign({ secret, body, now }: ToSign): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const signature = hmac(secret, `${timestamp}.`, body).toString("hex");
  return { [signatureHeader]: `t=${timestamp},v1=${signature}` };
}

/** The context of an organization's event is a path of IDs. https://docs.stripe.com/context */
function accounts(payload: Payload): readonly string[] {
  const context = text(payload, "context")?.split("/", maxDepth) ?? [];
  return [...texts(payload, "account"), ...context.filter((id) => id !== "")];
}

/** The subject of the event, such as `invoice in_123`. */
function title(payload: Payload): string | null {
  const kind = text(payload, "data.object.object", "related_object.type");
  const id = text(payload, "data.object.id", "related_object.id");
  return kind === null || id === null ? (kind ?? id) : `${kind} ${id}`;
}

function livemode(payload: Payload): boolean | null {
  const value = valueAt(payload, "livemode");
  return typeof value === "boolean" ? value : null;
}
