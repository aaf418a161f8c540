import { canonicalHost } from "../contracts/network-allow.ts";
import type { CredentialReference } from "../contracts/credential-reference.ts";
import { credentialType } from "./credential-types.ts";
import type { Credential } from "./load-credential.ts";

/** `[network.credentials]`: more hosts by `type` or `type:instance`. */
export type MoreHosts = Readonly<Record<string, readonly string[]>>;

/**
 * The hosts that the secrets of a credential are bound to, in their canonical form; none for one that is not bound. A
 * credential that names its own `host` is for that one; with a port of its own it is bound to none, as only port 443 is
 * opened for it.
 */
export function boundHosts(credential: Credential, more: MoreHosts): readonly string[] {
  const { type, instance, fields } = credential;
  const known = credentialType(type)?.hosts ?? [];
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
