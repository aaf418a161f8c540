import { chmod, link, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CredentialReference } from "../contracts/credential-reference.ts";
import { hasCode, Problem, failureOf } from "../errors.ts";
import { storeDir, placeSecret } from "./read-secret.ts";
import { namesIn } from "./list-credentials.ts";
import { fieldPattern } from "./load-credential.ts";

/** The most that a secret may hold, in bytes. */
const maxBytes = 64 * 1024;

interface NewField extends CredentialReference {
  readonly field: string;
  readonly secret: string;
  /** Whether an existing value may be replaced. */
  readonly replace: boolean;
}

/**
 * Stores one field of a credential and closes its directories to other users; returns the path of the file. Throws a
 * Problem `credential_exists` if it exists and may not be replaced. No error holds the secret.
 */
export async function storeField(home: string, entry: NewField): Promise<string> {
  const { type, instance, field, secret, replace } = entry;
  if (!fieldPattern.test(field)) {
    throw new Problem(
      "invalid_credential",
      `${JSON.stringify(field)} is not a name of a credential's field`,
      "use letters, digits, _ and -",
    );
  }
  const value = secret.replace(/(?<![\r\n])[\r\n]+$/, "");
  refuseUnusable(value);
  const store = storeDir(home);
  const path = join(store, type, instance, field);
  try {
    await placeSecret(path, value, (draft) => (replace ? rename(draft, path) : link(draft, path)));
    for (const dir of [dirname(path), dirname(dirname(path)), store]) await chmod(dir, 0o700);
    return path;
  } catch (error) {
    throw storeError(path, error);
  }
}

function refuseUnusable(value: string): void {
  if (value === "") {
    throw new Problem(
      "empty_secret",
      "the secret is empty; nothing was stored",
      "pipe it to standard input, or name its file with --from-file",
    );
  }
  if (value.includes("\0") || Buffer.byteLength(value) > maxBytes) {
    throw new Problem(
      "unusable_secret",
      `a secret is text of at most ${maxBytes} bytes; nothing was stored`,
    );
  }
}

function storeError(path: string, error: unknown): Problem {
  if (hasCode(error, "EEXIST")) {
    return new Problem("credential_exists", `${path} already exists`, "--replace overwrites it");
  }
  return failureOf(
    "credential_store",
    `${path} can't be written`,
    error,
    "make the directory yours, or set AL_HOME to one that is",
  );
}

/** Removes a credential with all its fields, or one field; returns the removed names. */
export async function removeCredential(
  home: string,
  { type, instance }: CredentialReference,
  field: string | null,
): Promise<string[]> {
  const dir = join(storeDir(home), type, instance);
  const names = (await namesIn(dir)).filter((name) => field === null || name === field);
  for (const name of names) await rm(join(dir, name), { recursive: true, force: true });
  // An empty directory would count as a credential without its fields.
  for (const each of [dir, dirname(dir)]) await rmdir(each).catch(() => undefined);
  return names.filter((name) => !name.startsWith("."));
}
