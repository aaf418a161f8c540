import { closest, meant } from "../contracts/did-you-mean.ts";
import type { CredentialReference } from "../contracts/credential-reference.ts";
import { credentialName, parseCredentialReference } from "../contracts/credential-reference.ts";
import { credentialStamps } from "./credential-stamps.ts";
import { credentialType, credentialTypes } from "./credential-types.ts";

/**
 * `did you mean "github_token"?` for a credential that is not in the store of `home`: one that is stored, or a type
 * that the program knows. Null when nothing is near.
 */
export async function nearCredential(
  home: string,
  wanted: CredentialReference,
): Promise<string | null> {
  const stored = [...(await credentialStamps(home)).keys()]
    .map(parseCredentialReference)
    .filter((one) => one !== null)
    .filter((one) => mayBeMeant(one, wanted.type));
  const name = credentialName(wanted);
  const ofThisType = stored.filter(({ type }) => type === wanted.type).map(credentialName);
  const known = isKnown(wanted.type) ? [] : Object.keys(credentialTypes);
  const near =
    closest(name, ofThisType) ??
    ofThisType[0] ??
    closest(name, stored.map(credentialName)) ??
    closest(wanted.type, known);
  return near === null ? null : meant(near);
}

/** `gitlab_token` is no slip of `github_token`: the program knows both. */
function mayBeMeant({ type }: CredentialReference, wanted: string): boolean {
  return type === wanted || !isKnown(type) || !isKnown(wanted);
}

function isKnown(type: string): boolean {
  return credentialType(type) !== null;
}
