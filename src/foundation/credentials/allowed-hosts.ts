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
 * its own hosts or its type's presets. `ownFields` reads its fields; it is not called for types without hosts of their own. A credential
 * with an unreadable host adds only the bound hosts: the run that uses it reports the missing credential.
 */
export async function allowedByCredential(
  reference: string,
  more: MoreHosts,
  ownFields: (reference: string) => Promise<Fields>,
): Promise<readonly string[]> {
  const parsed = parseCredentialReference(reference);
  if (parsed === null) return [];
  const own = await hostsOfType(parsed.type, () => ownFields(reference)).catch(() => []);
  return [...own, ...addedHosts(parsed, more)];
}

async function hostsOfType(
  name: string,
  ownFields: () => Promise<Fields>,
): Promise<readonly string[]> {
  const type = credentialType(name);
  const presets = type?.presets ?? [];
  if (type?.git === undefined) return presets;
  const own = ownHosts(await ownFields());
  if (own.length === 0) return presets;
  return own.flatMap((host) => [host, `${host.replace(/:[0-9]+$/, "")}:${sshPort}`]);
}

type Fields = Credential["fields"];

/** The hosts that a credential itself names, that of git first; empty for the usual ones of its type. */
export function ownHosts({ host, api_url: api }: Fields): readonly string[] {
  if (host !== undefined) return [host];
  const url = api === undefined ? null : URL.parse(api);
  return url === null ? [] : [...new Set([url.host.replace(/^api\./, ""), url.host])];
}

/** The hosts that runs of an agent may reach, by its credentials, the project and its own config, with approval if need be. `project` is null without `[network]`. */
export async function allowList(
  { credentials, network, approve }: AgentConfig,
  project: (NetworkConfig & { readonly credentials: MoreHosts }) | null,
  credential: (reference: string) => Promise<Credential>,
): Promise<readonly AllowedHost[]> {
  const more = project?.credentials ?? {};
  const ownFields = async (reference: string) => (await credential(reference)).fields;
  const ofCredentials = await Promise.all(
    credentials.map((reference) => allowedByCredential(reference, more, ownFields)),
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
  const own = known.length > 0 ? ownHosts(fields) : [];
  const canonical = [...(own.length > 0 ? own : known), ...addedHosts({ type, instance }, more)]
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
