import { genericType, type WebhookFormat } from "../../../foundation/config/webhook-format.ts";
import { hmacProvider } from "../hmac-sender.ts";
import type { Provider } from "../provider.ts";
import { usualFilters } from "../usual-filters.ts";

const about = {
  proof: "the HMAC in the header `signature` of the source",
  note: "For every other sender with an HMAC: [keys of the source](../../foundation/config/reference.md#webhookssource) describe its deliveries. [An example](../../../examples/any-webhook/README.md).",
};

/** A sender as the keys of its source describe it. */
function genericFor(format: WebhookFormat): Provider {
  return {
    ...hmacProvider({ ...format, type: genericType, about }),
    filters: usualFilters(() => true, { repos: "Specific repositories" }),
    forSource: genericFor,
  };
}

export const generic = genericFor({});
