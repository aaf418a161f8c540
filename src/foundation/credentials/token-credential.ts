import { ownHosts } from "./allowed-hosts.ts";
import { fieldsInRun } from "./credential-types.ts";
import type { Credential } from "./load-credential.ts";

/** A credential with a token in place of the GitHub App that it is minted with. */
export function tokenCredential({ type, instance, fields }: Credential, token: string): Credential {
  const known = fieldsInRun(type);
  const own = Object.entries(fields).filter(([name]) => Object.hasOwn(known, name));
  const [host] = ownHosts(fields);
  return { type, instance, fields: { ...Object.fromEntries(own), ...(host && { host }), token } };
}
