import { randomBytes } from "node:crypto";
import { link, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gatewayKeyType } from "../contracts/credential-reference.ts";
import { Problem, hasCode, failureOf } from "../errors.ts";
import { storeDir, placeSecret, checkPrivateDir, readSecret } from "./read-secret.ts";

/** The gateway's API key and the file that holds it. */
export interface ApiKey {
  readonly key: string;
  readonly path: string;
  /** True when this call made the key. */
  readonly created: boolean;
}

/** Fits into a header, and is too long for a mistake. */
const keyPattern = /^[\x21-\x7e]{16,512}$/;

/** The gateway's API key, created if missing; concurrent callers get the same key. */
export async function ensureApiKey(home: string): Promise<ApiKey> {
  const path = keyPath(home);
  const found = await readKey(home, path);
  if (found !== null) return { key: found, path, created: false };
  const key = newKey();
  // A link creates the complete file or fails: no reader sees half a key.
  const created = await placed(path, key, async (draft) => {
    try {
      await link(draft, path);
      return true;
    } catch (error) {
      if (hasCode(error, "EEXIST")) return false;
      throw error;
    }
  });
  if (created) return { key, path, created };
  const theirs = await readKey(home, path);
  if (theirs !== null) return { key: theirs, path, created };
  throw new Problem("api_key", `${path} was removed while it was read; try again`);
}

/** The gateway's API key, null before it is created. Throws a Problem if it can't be used. */
export async function findApiKey(home: string): Promise<Omit<ApiKey, "created"> | null> {
  const path = keyPath(home);
  const key = await readKey(home, path);
  return key === null ? null : { key, path };
}

/** Replaces the gateway's API key. */
export async function regenerateApiKey(home: string): Promise<ApiKey> {
  const path = keyPath(home);
  const key = newKey();
  await placed(path, key, (draft) => rename(draft, path));
  return { key, path, created: true };
}

function keyPath(home: string): string {
  return join(storeDir(home), gatewayKeyType, "default", "key");
}

/** 256 random bits. */
function newKey(): string {
  return randomBytes(32).toString("base64url");
}

async function readKey(home: string, path: string): Promise<string | null> {
  const store = storeDir(home);
  for (const dir of [store, dirname(dirname(path)), dirname(path)]) await checkPrivateDir(dir);
  const key = await readSecret(path, store);
  if (key === null || keyPattern.test(key)) return key;
  throw new Problem(
    "api_key",
    `${path} contains no usable key: expected 16 to 512 ASCII characters`,
    "delete the file; the next start makes a new key",
  );
}

/** Puts a key in place; throws a Problem if that fails. */
async function placed<T>(
  path: string,
  key: string,
  put: (draft: string) => Promise<T>,
): Promise<T> {
  try {
    return await placeSecret(path, key, put);
  } catch (error) {
    throw failureOf("api_key", `${path} can't be written`, error);
  }
}
