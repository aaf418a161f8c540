import { parseCredentialReference } from "../../contracts/credential-reference.ts";
import type { CredentialReference } from "../../contracts/credential-reference.ts";

interface Renamed {
  /** The type here, where it has another name. */
  readonly type?: string;
  /** Fields with other names: theirs to ours. */
  readonly fields?: Readonly<Record<string, string>>;
}

const modelKey: Renamed = { fields: { token: "key" } };

/** What Action Llama's store calls otherwise. All other types and fields keep their names. */
const renamed: Readonly<Record<string, Renamed>> = {
  anthropic_key: modelKey,
  openai_key: modelKey,
  google_key: modelKey,
  groq_key: modelKey,
  xai_key: modelKey,
  mistral_key: modelKey,
  openrouter_key: modelKey,
  custom_key: modelKey,
  git_ssh: { fields: { id_rsa: "private_key", username: "name" } },
  aws: { fields: { default_region: "region" } },
  gcp_service_account: { fields: { key_json: "key_file" } },
  // A type that the program does not know: its fields are DISCORD_BOT_TOKEN and so on, as they are there.
  discord_bot: { type: "discord" },
  cloudflare_api_token: { type: "cloudflare_token", fields: { api_token: "token" } },
};

/** The name here of a credential that their configs name, `type` or `type:instance`. */
export function ourReference(theirs: string): string {
  const parsed = parseCredentialReference(theirs);
  if (parsed === null) return theirs;
  const type = renamedOf(parsed.type).type ?? parsed.type;
  return parsed.instance === "default" ? type : `${type}:${parsed.instance}`;
}

/** What their store calls a credential of ours. */
export function theirReference({ type, instance }: CredentialReference): CredentialReference {
  const found = Object.entries(renamed).find(([, entry]) => entry.type === type);
  return { type: found?.[0] ?? type, instance };
}

/** The field here of a field of their type. */
export function ourField(theirType: string, field: string): string {
  return renamedOf(theirType).fields?.[field] ?? field;
}

function renamedOf(type: string): Renamed {
  return Object.hasOwn(renamed, type) ? (renamed[type] ?? {}) : {};
}
