import { canonicalHost } from "../contracts/network-allow.ts";
import type { CredentialReference } from "../contracts/credential-reference.ts";
import type { Credential } from "./load-credential.ts";

/** The hosts that a credential of a type is for, by HTTPS. Types that sign with their secret, such as `aws`, have none. */
const hostsOfTypes: Readonly<Record<string, readonly string[]>> = {
  github_token: ["github.com", "api.github.com", "uploads.github.com"],
  gitlab_token: ["gitlab.com"],
  npm_token: ["registry.npmjs.org"],
  linear_token: ["api.linear.app"],
  sentry_token: ["sentry.io", "us.sentry.io", "de.sentry.io"],
  slack_bot_token: ["slack.com", "files.slack.com"],
  discord_bot_token: ["discord.com"],
  notion_token: ["api.notion.com"],
  stripe_key: ["api.stripe.com"],
  cloudflare_token: ["api.cloudflare.com"],
  vercel_token: ["api.vercel.com"],
  netlify_token: ["api.netlify.com"],
  hetzner_api_key: ["api.hetzner.cloud"],
  vultr_api_key: ["api.vultr.com"],
  mintlify_token: ["api.mintlify.com"],
  bugsnag_token: ["api.bugsnag.com"],
};

/** `[network.credentials]`: more hosts by `type` or `type:instance`. */
export type MoreHosts = Readonly<Record<string, readonly string[]>>;

/**
 * The hosts that the secrets of a credential are bound to, in their canonical form; none for one that is not bound. A
 * credential that names its own `host` is for that one; with a port of its own it is bound to none, as only port 443 is
 * opened for it.
 */
export function boundHosts(credential: Credential, more: MoreHosts): readonly string[] {
  const { type, instance, fields } = credential;
  const known = Object.hasOwn(hostsOfTypes, type) ? (hostsOfTypes[type] ?? []) : [];
  const own = known.length > 0 && fields.host !== undefined ? [fields.host] : known;
  const canonical = [...own, ...addedHosts({ type, instance }, more)]
    .map((host) => canonicalHost(host.replace(/:443$/, "")))
    .filter((host) => host !== null);
  return [...new Set(canonical)];
}

/** The hosts that `[network.credentials]` names for a credential. */
export function addedHosts(
  { type, instance }: CredentialReference,
  more: MoreHosts,
): readonly string[] {
  return [type, `${type}:${instance}`].flatMap((name) =>
    Object.hasOwn(more, name) ? (more[name] ?? []) : [],
  );
}
