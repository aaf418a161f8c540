import { findApiKey } from "./api-key.ts";
import { credentialType, secretsOf } from "./credential-types.ts";
import { loadCredential } from "./load-credential.ts";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  credentialName,
  isCredentialInstance,
  parseCredentialReference,
} from "../contracts/credential-reference.ts";
import { isMissing, messageOf, Problem, failureOf } from "../errors.ts";
import { storeDir } from "./read-secret.ts";
import { stageCredentials } from "./stage-credentials.ts";

/** A credential of the store without its secrets. */
export interface StoredCredential {
  /** The reference in configs: `type`, or `type:instance`. */
  readonly name: string;
  readonly fields: readonly StoredField[];
  /** Environment variables that a run gets from it. */
  readonly variables: readonly string[];
  /** Why it can't be used, and a hint; null if it can. */
  readonly problem: string | null;
}

interface StoredField {
  readonly name: string;
  /** Permissions in octal, `600`. */
  readonly mode: string;
}

/** All credentials of the store in `home`, by name. Reads values only to check whether they are usable. */
export async function listCredentials(home: string): Promise<StoredCredential[]> {
  const store = storeDir(home);
  const found: StoredCredential[] = [];
  for (const type of await dirsIn(store)) {
    if (parseCredentialReference(type) === null) continue;
    for (const instance of (await dirsIn(join(store, type))).filter(isCredentialInstance)) {
      found.push(await described(home, type, instance));
    }
  }
  return found;
}

async function described(home: string, type: string, instance: string): Promise<StoredCredential> {
  const fields = await fieldsIn(join(storeDir(home), type, instance));
  const stored = fields.map((one) => one.name);
  const inRun = Object.entries(credentialType(type)?.inRun ?? {});
  const ofRun = inRun.flatMap(([field, { optional }]) =>
    optional && !stored.includes(field) ? [] : [field],
  );
  const names = inRun.length === 0 ? stored : ofRun;
  const blanks = Object.fromEntries(names.map((field) => [field, ""]));
  const [staged] = stageCredentials([{ type, instance, fields: blanks }]);
  const name = credentialName({ type, instance });
  const problem = await loadCredential(home, name).then(
    () => null,
    (error: unknown) => {
      const hint = error instanceof Problem && error.hint !== null ? ` (${error.hint})` : "";
      return `${messageOf(error)}${hint}`;
    },
  );
  const variables = Object.keys({ ...staged?.env, ...staged?.fileEnv }).sort();
  return { name, fields, variables, problem };
}

async function fieldsIn(dir: string): Promise<StoredField[]> {
  const names = (await namesIn(dir)).filter((name) => !name.startsWith("."));
  return Promise.all(
    names.map(async (name) => {
      const stats = await stat(join(dir, name)).catch(() => null);
      return { name, mode: stats === null ? "?" : (stats.mode & 0o777).toString(8) };
    }),
  );
}

async function dirsIn(path: string): Promise<string[]> {
  const names = await namesIn(path);
  const stats = await Promise.all(names.map((name) => stat(join(path, name)).catch(() => null)));
  return names.filter((_, index) => stats[index]?.isDirectory() === true);
}

/** Sorted; empty if the directory is missing. */
export async function namesIn(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw failureOf(
      "credential_store",
      `${dir} can't be read`,
      error,
      "use the OS user that it belongs to",
    );
  }
}

/** All usable secrets of the store in `home`, including the API key. Creates none. */
export async function storedSecrets(home: string): Promise<readonly string[]> {
  const apiKey = await findApiKey(home);
  const usable = (await listCredentials(home)).filter(({ problem }) => problem === null);
  const loaded = await Promise.all(usable.map(({ name }) => loadCredential(home, name)));
  return [...(apiKey === null ? [] : [apiKey.key]), ...loaded.flatMap(secretsOf)];
}
