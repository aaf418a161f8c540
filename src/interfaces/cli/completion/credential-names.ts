import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { credentialName } from "../../../foundation/contracts/credential-reference.ts";
import { credentialTypes } from "../../../foundation/credentials/credential-types.ts";
import { homeDir, storeDir } from "../../../foundation/credentials/home-dir.ts";

/** The credentials that are stored, and with them the types that the program knows. No secret is read. */
export function credentialsFor(isStoredOnly: boolean): readonly string[] {
  const stored = storedIn(storeDir(homeDir(process.env)));
  return isStoredOnly ? stored : [...new Set([...Object.keys(credentialTypes), ...stored])];
}

function storedIn(store: string): readonly string[] {
  return directoriesIn(store).flatMap((type) =>
    directoriesIn(join(store, type)).map((instance) => credentialName({ type, instance })),
  );
}

function directoriesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
