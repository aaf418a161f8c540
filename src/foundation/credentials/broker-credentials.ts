import type { SecretBinding } from "../contracts/network-allow.ts";
import { boundHosts } from "./allowed-hosts.ts";
import type { MoreHosts } from "./allowed-hosts.ts";
import { credentialType } from "./credential-types.ts";
import type { Credential } from "./load-credential.ts";
import { createHmac } from "node:crypto";

interface BrokerOptions {
  /** The project's own key. */
  readonly projectKey: string;
  readonly instanceId: string;
  readonly moreHosts: MoreHosts;
}

interface BrokeredCredential {
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

/** Secrets that programs take from variables; a secret that only works as a file, such as a private key, stays in the run. */
function brokeredFields({ type, fields }: Credential): [field: string, secret: string][] {
  const known = credentialType(type)?.fields ?? {};
  return Object.entries(fields).filter(([name]) => {
    const described = Object.hasOwn(known, name) ? known[name] : undefined;
    return described === undefined || (described.open !== true && described.env.length > 0);
  });
}

/** In every sentinel: where this is, something stands for a secret. Letters alone, for shells, URLs and passwords. */
export const sentinelMark = "AlSentinel";
/** With the mark as long as GitHub's tokens behind their prefix. */
const drawn = 26;
const base32 = "abcdefghijklmnopqrstuvwxyz234567";

/** A field of a credential that a run has. */
interface SentinelOf {
  readonly instanceId: string;
  /** The credential's, as the store names it. */
  readonly type: string;
  readonly instance: string;
  readonly field: string;
  readonly secret: string;
}

/** Public prefixes by which services' own tools recognize the kind of a token. */
const prefixes =
  /^(gh[oprsu]_|github_pat_|glpat-|xox[abps]-|xapp-|[rs]k_(live|test)_|npm_|lin_api_|ntn_|sntry[su]_)/;

/** The text that stands for a secret in one run, the same in a later scheduler. */
function sentinelFor(
  projectKey: string,
  { instanceId, type, instance, field, secret }: SentinelOf,
): string {
  const [prefix = ""] = prefixes.exec(secret) ?? [];
  const bytes = derivedBytes(projectKey, "sentinel", instanceId, type, instance, field);
  const characters = [...bytes.subarray(0, drawn)].map((byte) => base32.charAt(byte % 32));
  return `${prefix}${sentinelMark}${characters.join("")}`;
}

/**
 * 32 bytes that only the holder of the project's own key can make, the same each time: a later scheduler has them again,
 * and nothing is stored. Each purpose has bytes of its own.
 */
export function derivedBytes(
  projectKey: string,
  purpose: string,
  ...parts: readonly (string | number)[]
): Buffer {
  const purposeKey = createHmac("sha256", projectKey).update(purpose).digest();
  return createHmac("sha256", purposeKey).update(JSON.stringify(parts)).digest();
}
