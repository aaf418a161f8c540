import type { AgentConfig, NetworkConfig } from "../../../streams/agent-config.ts";
import { parseCredentialReference } from "../contracts/credential-reference.ts";
import { allowedHosts } from "../contracts/network-allow.ts";
import type { AllowedHost } from "../contracts/network-allow.ts";
import { addedHosts } from "./bound-hosts.ts";
import type { MoreHosts } from "./bound-hosts.ts";
import { credentialType } from "./credential-types.ts";
import type { Credential } from "./load-credential.ts";

/** SSH, by which git hosts are reached, too. */
const sshPort = 22;

/**
 * The entries of `[network].allow` that come with a credential: what `[network.credentials]` binds it to, and its type's
 * presets or the host of its own that it names (`host`). `ownHost` reads that; it is not asked for types without such a
 * field. One whose host can't be read brings none of its own: that it is missing is reported where it is used.
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

/** What the runs of an agent may reach: by its credentials, the project and itself. `project` is null without `[network]`. */
export async function allowList(
  { credentials, network }: Pick<AgentConfig, "credentials" | "network">,
  project: (NetworkConfig & { readonly credentials: MoreHosts }) | null,
  credential: (reference: string) => Promise<Pick<Credential, "fields">>,
): Promise<readonly AllowedHost[]> {
  const more = project?.credentials ?? {};
  const ownHost = async (reference: string) => (await credential(reference)).fields.host;
  const ofCredentials = await Promise.all(
    credentials.map((reference) => allowedByCredential(reference, more, ownHost)),
  );
  const entries = [...(project?.allow ?? []), ...(network?.allow ?? [])];
  return allowedHosts([...ofCredentials.flat(), ...entries]);
}
