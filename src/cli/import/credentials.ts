import { homedir } from "node:os";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseCredentialReference } from "../../contracts/credential-reference.ts";
import type { CredentialReference } from "../../contracts/credential-reference.ts";
import { shellWord } from "../../contracts/shell-word.ts";
import { credentialType } from "../../credentials/credential-types.ts";
import { storeField } from "../../credentials/edit-credential.ts";
import { UserError } from "../../errors.ts";
import { ourField, theirReference } from "./credential-map.ts";
import type { Remark } from "./remark.ts";

/** One field of their store. */
interface FoundField extends CredentialReference {
  /** As it is called here. */
  readonly field: string;
  readonly path: string;
}

/** What the project needs of their store. */
export interface FoundCredentials {
  readonly store: string;
  readonly fields: readonly FoundField[];
  /** Credentials that are not there, as configs here name them. */
  readonly missing: readonly string[];
}

/** Where Action Llama keeps credentials, `<type>/<instance>/<field>`. */
export function theirStore(): string {
  return join(homedir(), ".action-llama", "credentials");
}

/** Looks the credentials up in their store. Reads no value. */
export async function findCredentials(
  store: string,
  names: readonly string[],
): Promise<FoundCredentials> {
  const fields: FoundField[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const ours = parseCredentialReference(name);
    if (ours === null) continue;
    const found = await fieldsOf(store, ours);
    if (found.length === 0) missing.push(name);
    fields.push(...found);
  }
  return { store, fields, missing };
}

async function fieldsOf(store: string, ours: CredentialReference): Promise<readonly FoundField[]> {
  const theirs = theirReference(ours);
  const dir = join(store, theirs.type, theirs.instance);
  const names = (await readdir(dir).catch(() => [])).filter((name) => !name.startsWith(".")).sort();
  const found: FoundField[] = [];
  for (const name of names) {
    const path = join(dir, name);
    // A link could lead to any file of the disk.
    if ((await lstat(path)).isFile())
      found.push({ ...ours, field: ourField(theirs.type, name), path });
  }
  return found;
}

/** The credential and its field: `git_ssh:bot/private_key`. */
export function fieldName({ type, instance, field }: FoundField): string {
  return `${referenceText({ type, instance })}/${field}`;
}

function referenceText({ type, instance }: CredentialReference): string {
  return instance === "default" ? type : `${type}:${instance}`;
}

interface Copied {
  /** Those that are in the store now, or had the same value there. */
  readonly names: readonly string[];
  readonly remarks: readonly Remark[];
}

/** Copies the fields into the store in `home`, for its owner's eyes only. Another value that is there stays. */
export async function copyCredentials(home: string, { fields }: FoundCredentials): Promise<Copied> {
  const names: string[] = [];
  const remarks: Remark[] = [];
  for (const field of fields) {
    const secret = (await readFile(field.path, "utf8")).trim();
    if (secret === "") {
      remarks.push(toDo(`${field.path} is empty`, addCommand(field, null)));
    } else if (await isStored(home, field, secret)) names.push(fieldName(field));
    else {
      const message = `${fieldName(field)} has another value here already, which stays`;
      remarks.push(toDo(message, `${addCommand(field, field.path)} --replace`));
    }
  }
  return { names, remarks };
}

async function isStored(home: string, entry: FoundField, secret: string): Promise<boolean> {
  const { type, instance, field } = entry;
  try {
    await storeField(home, { type, instance, field, secret, replace: false });
    return true;
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== "credential_exists") throw error;
    const path = join(home, "credentials", type, instance, field);
    return (await readFile(path, "utf8")).trim() === secret;
  }
}

/** What a person types who stores them without the import. */
export function missingRemarks({ store, missing }: FoundCredentials): readonly Remark[] {
  return missing.map((name) => {
    // A type that the program does not know has fields of its own.
    const isKnown = credentialType(parseCredentialReference(name)?.type ?? "") !== null;
    const command = `al creds add ${name}${isKnown ? "" : " --field <field>"}`;
    return toDo(`credential ${name} is not in ${store}`, command);
  });
}

export function uncopiedRemarks({ fields }: FoundCredentials): readonly Remark[] {
  return fields.map((field) =>
    toDo(`credential ${fieldName(field)} was not copied`, addCommand(field, field.path)),
  );
}

function addCommand(entry: FoundField, path: string | null): string {
  const from = path === null ? "" : ` --from-file ${shellWord(path)}`;
  return `al creds add ${referenceText(entry)} --field ${entry.field}${from}`;
}

function toDo(message: string, fix: string): Remark {
  return { kind: "edit", file: null, line: null, message, fix };
}
