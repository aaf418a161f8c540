import { text } from "../json.ts";
import { commonFilters, type FilterRules, type Provider } from "../provider.ts";
import { signStandard, standardHeader, standardHeaders, verifyStandard } from "../signature.ts";

const filters: FilterRules = {
  events: { kind: "strings", meaning: "Event types: the payload's `type`" },
  actions: { kind: "strings", meaning: "Event actions: the payload's `action`" },
  ...commonFilters,
};

/**
 * Anything that signs by Standard Webhooks 1.0; the payload's recommended fields are `type`, `timestamp`, `data`.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const standard: Provider = {
  type: "standard",
  about: {
    proof:
      "Standard Webhooks 1.0: `webhook-signature` over ID, time and body, at most 5 minutes old",
    note: "For every other sender that signs this way, including those that use Svix's header names (`svix-id`, `svix-timestamp`, `svix-signature`), such as Clerk and Resend.",
  },
  secretHeaders: standardHeaders.secret,
  keptHeaders: standardHeaders.kept,
  filters,
  verify: verifyStandard,
  sign: signStandard,
  deliveryId: (_payload, headers) => standardHeader(headers, "id"),
  describe: (payload) => ({
    // The specification recommends `type` and does not require it.
    event: text(payload, "type", "event") ?? "event",
    action: text(payload, "action"),
    title: text(payload, "title", "data.title", "data.name"),
    body: text(payload, "body", "message", "data.body", "data.description"),
    url: text(payload, "url", "data.url"),
    sender: text(payload, "sender"),
    attributes: {},
  }),
};
