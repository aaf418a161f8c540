import { readdir, stat } from "node:fs/promises";
import { join, dirname } from "node:path";
import { storeDir, checkPrivateDir, readSecret } from "./read-secret.ts";
import { credentialName, parseCredentialReference } from "../contracts/credential-reference.ts";
import type { CredentialReference } from "../contracts/credential-reference.ts";
import { isMissing, Problem, failureOf } from "../errors.ts";
import { credentialType, credentialTypes } from "./credential-types.ts";
import { closest, meant } from "../contracts/did-you-mean.ts";

/** A credential with its secrets. */
export interface Credential extends CredentialReference {
  /** Field name to secret value. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Names of fields become file names. */
export const fieldPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;
const maxFields = 64;

/**
 * Loads the credential `reference` (`type` or `type:instance`) from the store in `home`. Throws a Problem when it isn't
 * there, is incomplete, or is open to other users.
 */
export async function loadCredential(home: string, reference: string): Promise<Credential> {
  const parsed = parseCredentialReference(reference);
  if (parsed === null) {
    throw new Problem(
      "invalid_credential",
      `${JSON.stringify(reference)} is not a credential; expected type or type:instance`,
    );
  }
  const store = storeDir(home);
  const dir = join(store, parsed.type, parsed.instance);
  for (const path of [store, dirname(dir), dir]) await checkPrivateDir(path);
  const names = await fieldNames(dir);
  if (names === null) {
    const near = await nearCredential(home, parsed);
    const found = `there is no ${dir}${near === null ? "" : ` (${near})`}`;
    throw missing(parsed, found, firstFlags(parsed.type));
  }
  const values = await Promise.all(names.map((name) => readSecret(join(dir, name), store)));
  const fields: Record<string, string> = {};
  names.forEach((name, index) => {
    const value = values[index];
    if (value) fields[name] = value;
  });
  checkComplete(fields, parsed, dir);
  return { ...parsed, fields };
}

/** Null if the directory is missing. */
async function fieldNames(dir: string): Promise<string[] | null> {
  try {
    // Hidden files belong to editors, and to a key that is just being written.
    const names = (await readdir(dir)).filter((name) => !name.startsWith(".")).sort();
    const illegal = names.find((name) => !fieldPattern.test(name));
    if (illegal !== undefined || names.length > maxFields) throw strange(dir, illegal);
    return names;
  } catch (error) {
    if (error instanceof Problem) throw error;
    if (isMissing(error)) return null;
    throw failureOf("unsafe_credential", `${dir} can't be read`, error);
  }
}

function strange(dir: string, illegal: string | undefined): Problem {
  const found =
    illegal === undefined
      ? `${dir} has more than ${maxFields} files`
      : `${join(dir, illegal)} is not a field of a credential`;
  return new Problem(
    "unsafe_credential",
    found,
    "use one file per field, named with letters, digits, _ and -; move others elsewhere",
  );
}

/** An empty file counts as missing: an empty secret would be sent as one. */
function checkComplete(
  fields: Readonly<Record<string, string>>,
  reference: CredentialReference,
  dir: string,
): void {
  const known = credentialType(reference.type)?.fields ?? {};
  const needed = Object.keys(known).filter((name) => known[name]?.optional === undefined);
  const absent = needed.find((name) => !Object.hasOwn(fields, name));
  const field = needed.length > 1 ? ` --field ${absent ?? ""}` : "";
  // The missing file may already exist, empty.
  const lacks = (part: string): string => `${dir} lacks ${part}, or it is empty`;
  if (absent !== undefined) {
    throw missing(reference, lacks(`its field ${absent}`), `${field} --replace`);
  }
  if (Object.keys(fields).length === 0) throw missing(reference, lacks("a field"), ownField);
}

function firstFlags(type: string): string {
  return credentialType(type) === null ? " --field <field>" : "";
}

/** A type that the program does not know has fields of its own. */
const ownField = " --field <field> --replace";

/** `found` are the stored names; `flags` make `al creds add` store it. */
function missing(reference: CredentialReference, found: string, flags: string): Problem {
  const name = credentialName(reference);
  return new Problem(
    "missing_credential",
    `credential ${name} is missing: ${found}`,
    `Store it with \`al creds add ${name}${flags}\`.`,
  );
}

/**
 * `did you mean "github_token"?` for a credential that is not in the store of `home`: one that is stored, or a type
 * that the program knows. Null when nothing is near.
 */
async function nearCredential(home: string, wanted: CredentialReference): Promise<string | null> {
  const stored = [...(await credentialStamps(home)).keys()]
    .map(parseCredentialReference)
    .filter((one) => one !== null)
    .filter((one) => mayBeMeant(one, wanted.type));
  const name = credentialName(wanted);
  const ofThisType = stored.filter(({ type }) => type === wanted.type).map(credentialName);
  const known = isKnown(wanted.type) ? [] : Object.keys(credentialTypes);
  const near =
    closest(name, ofThisType) ??
    ofThisType[0] ??
    closest(name, stored.map(credentialName)) ??
    closest(wanted.type, known);
  return near === null ? null : meant(near);
}

/** Whether `wanted` may be a misspelling of this type. `gitlab_token` is not one of `github_token`: both are known. */
function mayBeMeant({ type }: CredentialReference, wanted: string): boolean {
  return type === wanted || !isKnown(type) || !isKnown(wanted);
}

function isKnown(type: string): boolean {
  return credentialType(type) !== null;
}

/**
 * Stamps that change with the files of each credential of the store in `home`, by `type:instance`; reads no value. A
 * folder that is removed meanwhile counts as empty, alone.
 */
export async function credentialStamps(home: string): Promise<ReadonlyMap<string, string>> {
  const store = storeDir(home);
  const stamps = new Map<string, string>();
  for (const type of await namesIn(store)) {
    for (const instance of await namesIn(join(store, type))) {
      const stamp = await stampOf(join(store, type, instance));
      if (stamp !== "") stamps.set(`${type}:${instance}`, stamp);
    }
  }
  return stamps;
}

async function stampOf(dir: string): Promise<string> {
  const stamps = (await namesIn(dir)).map(async (name) => {
    const stats = await stat(join(dir, name)).catch(() => null);
    return stats?.isFile() ? ` ${name} ${stats.ino} ${stats.ctimeMs}` : "";
  });
  return (await Promise.all(stamps)).join("");
}

/** Without hidden ones, which belong to editors and open writes. */
async function namesIn(dir: string): Promise<string[]> {
  return (await readdir(dir).catch(() => [])).filter((name) => !name.startsWith(".")).sort();
}
