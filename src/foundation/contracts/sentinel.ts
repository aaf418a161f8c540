import { derivedBytes } from "./derived-bytes.ts";

/** In every sentinel: where this is, something stands for a secret. Letters alone, for shells, URLs and passwords. */
export const sentinelMark = "AlSentinel";
/** With the mark as long as GitHub's tokens behind their prefix. */
const drawn = 26;
const base32 = "abcdefghijklmnopqrstuvwxyz234567";

/** A field of a credential that a run has. */
export interface SentinelOf {
  readonly instanceId: string;
  /** The credential's, as the store names it. */
  readonly type: string;
  readonly instance: string;
  readonly field: string;
  readonly secret: string;
}

/** The beginnings by which services' own tools know the kind of a token; none of them is secret. */
const prefixes =
  /^(gh[oprsu]_|github_pat_|glpat-|xox[abps]-|xapp-|[rs]k_(live|test)_|npm_|lin_api_|ntn_|sntry[su]_)/;

/** The text that stands for a secret in one run, the same in a later scheduler. */
export function sentinelFor(
  projectKey: string,
  { instanceId, type, instance, field, secret }: SentinelOf,
): string {
  const [prefix = ""] = prefixes.exec(secret) ?? [];
  const bytes = derivedBytes(projectKey, "sentinel", instanceId, type, instance, field);
  const characters = [...bytes.subarray(0, drawn)].map((byte) => base32.charAt(byte % 32));
  return `${prefix}${sentinelMark}${characters.join("")}`;
}
