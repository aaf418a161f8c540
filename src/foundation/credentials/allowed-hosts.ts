import { canonicalHost, allowedHosts, type AllowedHost } from "../contracts/network-allow.ts";
import type { CredentialReference } from "../contracts/credential-reference.ts";
import { credentialType } from "./credential-types.ts";
import type { Credential } from "./load-credential.ts";
import type { AgentConfig, NetworkConfig } from "../../../streams/agent-config.ts";
import { parseCredentialReference } from "../contracts/credential-reference.ts";

/** SSH, which git hosts use too. */
const sshPort = 22;

/**
 * The entries of `[network].allow` that a credential implies: the hosts that `[network.credentials]` binds it to, and
 * its own `host` or its type's presets. `ownHost` reads the field; it is not called for types without one. A credential
 * with an unreadable host adds only the bound hosts: the run that uses it reports the missing credential.
 */
export async function allowedByCredential(
  reference: string,
  more: MoreHosts,
  ownHost: (reference: string) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const parsed = parseCredentialReference(reference);
  if (parsed === null) return [];
  const own = await hostsOfType(parsed.type, () => ownHost(reference)).catch(() => []);
  return [...own, ...addedHosts(parsed, more)];
}

async function hostsOfType(
  name: string,
  ownHost: () => Promise<string | undefined>,
): Promise<readonly string[]> {
  const type = credentialType(name);
  const presets = type?.presets ?? [];
  if (type?.git === undefined) return presets;
  const host = await ownHost();
  if (host === undefined) return presets;
  return [host, `${host.replace(/:[0-9]+$/, "")}:${sshPort}`];
}

/** The hosts that runs of an agent may reach, by its credentials, the project and its own config, with approval if need be. `project` is null without `[network]`. */
export async function allowList(
  { credentials, network, approve }: AgentConfig,
  project: (NetworkConfig & { readonly credentials: MoreHosts }) | null,
  credential: (reference: string) => Promise<Credential>,
): Promise<readonly AllowedHost[]> {
  const more = project?.credentials ?? {};
  const ownHost = async (reference: string) => (await credential(reference)).fields.host;
  const ofCredentials = await Promise.all(
    credentials.map((reference) => allowedByCredential(reference, more, ownHost)),
  );
  const entries = [project?.allow, network?.allow, approve?.hosts].flatMap((own) => own ?? []);
  return allowedHosts([...ofCredentials.flat(), ...entries]);
}

/** `[network.credentials]`: more hosts by `type` or `type:instance`. */
export type MoreHosts = Readonly<Record<string, readonly string[]>>;

/**
 * The hosts that the secrets of a credential are bound to, in canonical form; empty if it is not bound. A credential
 * with its own `host` is for that one only; with its own port it is not bound, as only port 443 is opened for it.
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
function addedHosts({ type, instance }: CredentialReference, more: MoreHosts): readonly string[] {
  return [type, `${type}:${instance}`].flatMap((name) =>
    Object.hasOwn(more, name) ? (more[name] ?? []) : [],
  );
}
