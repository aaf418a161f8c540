import type { SecretBinding } from "../contracts/egress.ts";
import { sentinelFor } from "../contracts/sentinel.ts";
import { boundHosts } from "./bound-hosts.ts";
import type { MoreHosts } from "./bound-hosts.ts";
import { credentialType } from "./credential-types.ts";
import type { Credential } from "./load-credential.ts";

export interface BrokerOptions {
  /** The project's own key. */
  readonly projectKey: string;
  readonly instanceId: string;
  readonly moreHosts: MoreHosts;
}

export interface BrokeredCredential {
  /** As the run gets it: with sentinels where it is bound. */
  readonly inRun: Credential;
  /** None for one that is not bound to hosts, which the run gets as it is. */
  readonly bindings: readonly SecretBinding[];
}

/** Puts sentinels in the place of a credential's secrets, which are put into requests to their hosts outside of the run. */
export function brokerCredential(
  credential: Credential,
  { projectKey, instanceId, moreHosts }: BrokerOptions,
): BrokeredCredential {
  const hosts = boundHosts(credential, moreHosts);
  if (hosts.length === 0) return { inRun: credential, bindings: [] };
  const { type, instance } = credential;
  const fields = { ...credential.fields };
  const bindings = brokeredFields(credential).map(([field, secret]): SecretBinding => {
    const sentinel = sentinelFor(projectKey, { instanceId, type, instance, field, secret });
    fields[field] = sentinel;
    return { sentinel, secret, hosts };
  });
  return { inRun: { type, instance, fields }, bindings };
}

/** Secrets that programs take from variables; what works as a file alone, such as a private key, is of no use elsewhere. */
function brokeredFields({ type, fields }: Credential): [field: string, secret: string][] {
  const known = credentialType(type)?.fields ?? {};
  return Object.entries(fields).filter(([name]) => {
    const described = Object.hasOwn(known, name) ? known[name] : undefined;
    return described === undefined || (described.open !== true && described.env.length > 0);
  });
}
