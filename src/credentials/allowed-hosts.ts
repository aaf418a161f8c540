import { parseCredentialReference } from "../contracts/credential-reference.ts";
import { credentialType } from "./credential-types.ts";

/** SSH, by which git hosts are reached, too. */
const sshPort = 22;

/**
 * The entries of `[network].allow` that come with a credential: its type's presets, or the host of its own that it
 * names (`host`). `ownHost` reads that; it is not asked for types without such a field.
 */
export async function allowedByCredential(
  reference: string,
  ownHost: (reference: string) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const type = credentialType(parseCredentialReference(reference)?.type ?? "");
  const presets = type?.presets ?? [];
  if (type?.git === undefined) return presets;
  const host = await ownHost(reference);
  if (host === undefined) return presets;
  return [host, `${host.replace(/:[0-9]+$/, "")}:${sshPort}`];
}
