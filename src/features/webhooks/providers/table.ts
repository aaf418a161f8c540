import type { FilterTable } from "../../../foundation/config/config-key.ts";
import type { Provider } from "../provider.ts";
import { hmacProvider } from "../hmac-sender.ts";
import { generic } from "./generic.ts";
import { bitbucket, forgejo, gitea } from "./git-hosts.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { linear } from "./linear.ts";
import { mintlify } from "./mintlify.ts";
import { sentry } from "./sentry.ts";
import { jira, pagerduty, shopify } from "./services.ts";
import { slack } from "./slack.ts";
import { standard } from "./standard.ts";
import { stripe } from "./stripe.ts";

const all: readonly Provider[] = [
  github,
  sentry,
  linear,
  mintlify,
  gitlab,
  slack,
  stripe,
  standard,
  ...[gitea, forgejo, bitbucket, jira, pagerduty, shopify].map(hmacProvider),
  generic,
];

/** Every provider by type. A map, so that a path such as `/webhooks/constructor` finds nothing. */
export const providerTable: ReadonlyMap<string, Provider> = new Map(
  all.map((provider) => [provider.type, provider]),
);

/** The filter fields of every provider, for the config's validation, the reference page and the editor. */
export const filterTable: FilterTable = Object.fromEntries(
  all.map((provider) => [provider.type, provider.filters]),
);
