import { homedir } from "node:os";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseCredentialReference } from "../../contracts/credential-reference.ts";
import type { CredentialReference } from "../../contracts/credential-reference.ts";
import { shellWord } from "../../contracts/shell-word.ts";
import { credentialType } from "../../credentials/credential-types.ts";
import { storeField } from "../../credentials/edit-credential.ts";
import { UserError } from "../../errors.ts";
import { ourField, referenceText, theirReference } from "./credential-names.ts";
import type { Remark } from "./remarks.ts";

/** One field of their store. */
interface FoundField extends CredentialReference {
  /** As it is called here. */
  readonly field: string;
  readonly path: string;
}

/** The fields of their store that the project needs. */
export interface FoundCredentials {
  readonly store: string;
  readonly fields: readonly FoundField[];
  /** Credentials that are not in the store, as configs here name them. */
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
  const found = await Promise.all(
    names.map(async (name) => {
      const reference = parseCredentialReference(name);
      return { name, fields: reference === null ? null : await fieldsOf(store, reference) };
    }),
  );
  const missing = found.filter(({ fields }) => fields?.length === 0).map(({ name }) => name);
  return { store, fields: found.flatMap(({ fields }) => fields ?? []), missing };
}

/** A link could lead to any file of the disk, so only plain files count. */
async function fieldsOf(store: string, ours: CredentialReference): Promise<readonly FoundField[]> {
  const { type, instance } = ours;
  const theirs = theirReference(ours);
  const dir = join(store, theirs.type, theirs.instance);
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map(({ name }) => ({
      type,
      instance,
      field: ourField(theirs.type, name),
      path: join(dir, name),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The credential and its field: `git_ssh:bot/private_key`. */
export function fieldName(found: FoundField): string {
  return `${referenceText(found)}/${found.field}`;
}

/** The fields that are in the store now, or had the same value there, and what is left to do. */
interface Copied {
  readonly names: readonly string[];
  readonly remarks: readonly Remark[];
}

/** Copies the fields into the store in `home`, readable by its owner alone. A value that is there stays. */
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

/** The commands that add the credentials which are not in their store. */
export function missingRemarks({ store, missing }: FoundCredentials): readonly Remark[] {
  return missing.map((name) => {
    // A type that the program does not know has fields of its own.
    const isKnown = credentialType(parseCredentialReference(name)?.type ?? "") !== null;
    const command = `al creds add ${name}${isKnown ? "" : " --field <field>"}`;
    return toDo(`credential ${name} is not in ${store}`, command);
  });
}

/** The commands that do the copying. */
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
  return { file: null, line: null, message, fix };
}
