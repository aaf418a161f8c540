import { parseCredentialReference } from "../../contracts/credential-reference.ts";
import type { CredentialReference } from "../../contracts/credential-reference.ts";

/** Types that have another name here: theirs to ours. */
const types = new Map([
  // A type without a definition here: its fields are DISCORD_BOT_TOKEN and so on, as they are there.
  ["discord_bot", "discord"],
  ["cloudflare_api_token", "cloudflare_token"],
]);

/** Fields that have another name here, by their type and name. */
const fields = new Map([
  ["git_ssh/id_rsa", "private_key"],
  ["git_ssh/username", "name"],
  ["aws/default_region", "region"],
  ["gcp_service_account/key_json", "key_file"],
  ["cloudflare_api_token/api_token", "token"],
]);

/** The name here of a credential that their configs name, `type` or `type:instance`. */
export function ourReference(theirs: string): string {
  const parsed = parseCredentialReference(theirs);
  if (parsed === null) return theirs;
  return referenceText({ type: types.get(parsed.type) ?? parsed.type, instance: parsed.instance });
}

/** What their store calls a credential of ours. */
export function theirReference({ type, instance }: CredentialReference): CredentialReference {
  const [theirs] = [...types].find(([, ours]) => ours === type) ?? [type];
  return { type: theirs, instance };
}

/** The field here of a field of their type; keys of models are called `token` there. */
export function ourField(theirType: string, field: string): string {
  if (field === "token" && theirType.endsWith("_key")) return "key";
  return fields.get(`${theirType}/${field}`) ?? field;
}

export function referenceText({ type, instance }: CredentialReference): string {
  return instance === "default" ? type : `${type}:${instance}`;
}
