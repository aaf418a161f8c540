import { homedir } from "node:os";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  credentialName,
  parseCredentialReference,
} from "../../../foundation/contracts/credential-reference.ts";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { credentialType } from "../../../foundation/credentials/credential-types.ts";
import { storeField } from "../../../foundation/credentials/edit-credential.ts";
import { loadCredential } from "../../../foundation/credentials/load-credential.ts";
import { UserError } from "../../../foundation/errors.ts";
import type { Remark } from "./tables.ts";

/** Types with another name here: Action Llama's to ours. */
const types = new Map([
  // A type without a definition here: its fields keep their names, DISCORD_BOT_TOKEN and so on.
  ["discord_bot", "discord"],
  ["cloudflare_api_token", "cloudflare_token"],
]);

/** Fields with another name here, by their type and name. */
const fieldNames = new Map([
  ["git_ssh/id_rsa", "private_key"],
  ["git_ssh/username", "name"],
  ["aws/default_region", "region"],
  ["gcp_service_account/key_json", "key_file"],
  ["cloudflare_api_token/api_token", "token"],
]);

/** Our name for a credential of an imported config, `type` or `type:instance`. */
export function ourReference(theirs: string): string {
  const parsed = parseCredentialReference(theirs);
  if (parsed === null) return theirs;
  const { type, instance } = parsed;
  return credentialName({ type: types.get(type) ?? type, instance });
}

/** Action Llama's name for one of our types. */
export function theirType(type: string): string {
  const [theirs] = [...types].find(([, ours]) => ours === type) ?? [type];
  return theirs;
}

/** Our name for a field of an imported type; keys of models are called `token` in Action Llama. */
export function ourField(type: string, field: string): string {
  if (field === "token" && type.endsWith("_key")) return "key";
  return fieldNames.get(`${type}/${field}`) ?? field;
}

/** Where Action Llama keeps credentials, `<type>/<instance>/<field>`. */
export function theirStore(): string {
  return join(homedir(), ".action-llama", "credentials");
}

/** The fields that a project needs; `missing` credentials are in neither store. */
export type FoundCredentials = Awaited<ReturnType<typeof findCredentials>>;
type FoundField = FoundCredentials["fields"][number];

/** Finds the credentials in Action Llama's store, without reading values, and in the one in `home`. */
export async function findCredentials(home: string, store: string, names: readonly string[]) {
  const found = await Promise.all(
    names.filter(parseCredentialReference).map(async (name) => {
      // Whether the store here has it completely.
      const isHere = await loadCredential(home, name).then(Boolean, () => false);
      const fields = await fieldsOf(store, name);
      return { name, isMissing: fields.length === 0 && !isHere, fields, isHere };
    }),
  );
  return {
    store,
    fields: found.flatMap(({ fields, isHere }) => fields.map((field) => ({ ...field, isHere }))),
    missing: found.filter(({ isMissing }) => isMissing).map(({ name }) => name),
  };
}

/** A link could lead to any file of the disk, so only plain files count. */
async function fieldsOf(store: string, credential: string) {
  const reference = parseCredentialReference(credential);
  if (reference === null) return [];
  const type = theirType(reference.type);
  const dir = join(store, type, reference.instance);
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith("."));
  return files
    .map(({ name }) => name)
    .sort()
    .map((file) => {
      const field = ourField(type, file);
      // The credential and its field: `git_ssh:bot/private_key`.
      const name = `${credentialName(reference)}/${field}`;
      return { reference, field, name, path: join(dir, file) };
    });
}

/**
 * Copies the fields into the store in `home`, readable by its owner only. Existing values stay. Returns the fields that
 * now exist, and remarks on the others.
 */
export async function copyCredentials(home: string, found: FoundCredentials) {
  const names: string[] = [];
  const remarks: Remark[] = [];
  for (const field of found.fields) {
    const secret = (await readFile(field.path, "utf8")).trim();
    if (secret === "") {
      remarks.push(toDo(`${field.path} is empty`, addCommand(field, null)));
    } else if (await isStored(home, field, secret)) names.push(field.name);
    else {
      const message = `${field.name} has another value here already, which stays`;
      remarks.push(toDo(message, `${addCommand(field, field.path)} --replace`));
    }
  }
  return { names, remarks };
}

async function isStored(home: string, found: FoundField, secret: string): Promise<boolean> {
  const { reference, field } = found;
  const { type, instance } = reference;
  try {
    await storeField(home, { type, instance, field, secret, replace: false });
    return true;
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "credential_exists") throw error;
    const path = join(home, "credentials", type, instance, field);
    return (await readFile(path, "utf8")).trim() === secret;
  }
}

/** The commands that add credentials missing in both stores. */
export function missingRemarks({ store, missing }: FoundCredentials): readonly Remark[] {
  return missing.map((name) => {
    // A type that the program does not know has fields of its own.
    const isKnown = credentialType(parseCredentialReference(name)?.type ?? "") !== null;
    const command = `al creds add ${name}${isKnown ? "" : " --field <field>"}`;
    return toDo(`credential ${name} is neither in ${store} nor stored here`, command);
  });
}

/** The commands that copy credentials not stored here. */
export function uncopiedRemarks({ fields: found }: FoundCredentials): readonly Remark[] {
  return found
    .filter(({ isHere }) => !isHere)
    .map((field) => toDo(`credential ${field.name} was not copied`, addCommand(field, field.path)));
}

function addCommand({ reference, field }: FoundField, path: string | null): string {
  const from = path === null ? "" : ` --from-file ${shellWord(path)}`;
  return `al creds add ${credentialName(reference)} --field ${field}${from}`;
}

function toDo(message: string, fix: string): Remark {
  return { file: null, line: null, message, fix };
}
