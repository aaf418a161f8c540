import type { SecretBinding } from "../contracts/network-allow.ts";
import { boundHosts, type MoreHosts } from "./allowed-hosts.ts";
import { fieldsInRun } from "./credential-types.ts";
import type { Credential } from "./load-credential.ts";
import { createHmac } from "node:crypto";

interface BrokerOptions {
  /** The project's own key. */
  readonly projectKey: string;
  readonly instanceId: string;
  readonly moreHosts: MoreHosts;
}

interface BrokeredCredential {
  /** The run's copy: with sentinels if it is bound. */
  readonly inRun: Credential;
  /** Empty for a credential that is not bound to hosts, which the run gets unchanged. */
  readonly bindings: readonly SecretBinding[];
}

/**
 * Replaces a credential's secrets by sentinels; the secrets are inserted outside of the run, into requests to their hosts.
 * `given` is what the run would get without that.
 */
export function brokerCredential(
  credential: Credential,
  { projectKey, instanceId, moreHosts }: BrokerOptions,
  given = credential,
): BrokeredCredential {
  const hosts = boundHosts(credential, moreHosts);
  if (hosts.length === 0) return { inRun: given, bindings: [] };
  const { type, instance } = given;
  const fields = { ...given.fields };
  const bindings = brokeredFields(given).map(([field, secret]): SecretBinding => {
    const sentinel = sentinelFor(projectKey, { instanceId, type, instance, field, secret });
    fields[field] = sentinel;
    return { sentinel, secret, hosts };
  });
  return { inRun: { type, instance, fields }, bindings };
}

/** Secrets that programs read from variables; one that only works as a file, such as a private key, stays in the run. */
function brokeredFields({ type, fields }: Credential): [field: string, secret: string][] {
  const known = fieldsInRun(type);
  return Object.entries(fields).filter(([name]) => {
    const described = Object.hasOwn(known, name) ? known[name] : undefined;
    return described === undefined || (described.open !== true && described.env.length > 0);
  });
}

/** Part of every sentinel: it shows that something stands for a secret. Only letters, for shells, URLs and passwords. */
export const sentinelMark = "AlSentinel";
/** With the mark as long as GitHub's tokens after their prefix. */
const drawn = 26;
const base32 = "abcdefghijklmnopqrstuvwxyz234567";

/** A field of a credential that a run has. */
interface SentinelOf {
  readonly instanceId: string;
  /** Type of the credential, as the store names it. */
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
 * 32 bytes that only the project's own key can produce, always the same: a later scheduler derives them again, and
 * nothing is stored. Each purpose has its own bytes.
 */
export function derivedBytes(
  projectKey: string,
  purpose: string,
  ...parts: readonly (string | number)[]
): Buffer {
  const purposeKey = createHmac("sha256", projectKey).update(purpose).digest();
  return createHmac("sha256", purposeKey).update(JSON.stringify(parts)).digest();
}
