import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job, JobCredential } from "../contracts/job.ts";

/** Writes a file that only this user can read. */
export async function writePrivate(path: string, content: string | Uint8Array, mode = 0o600) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, content, { mode });
}

/** A field's name within a variable's template. */
const placeholder = /\{([A-Za-z0-9_-]+)\}/g;

/**
 * Writes the fields of credentials that only work as files, with public texts in a separate folder. Resolves to the
 * variables with their paths.
 */
export async function writeCredentialFiles({
  credentials,
  workDir,
}: Pick<Job, "credentials" | "workDir">): Promise<Readonly<Record<string, string>>> {
  const env: Record<string, string> = {};
  for (const credential of credentials) {
    const name = `${credential.type}-${credential.instance}`;
    const { texts = {}, fields, fileEnv = {} } = credential;
    const pathOf = (field: string) => {
      const folder = Object.hasOwn(texts, field) ? ".credential-texts" : ".credentials";
      return join(workDir, folder, name, field);
    };
    for (const field of fieldsNamed(credential)) {
      // ssh refuses a private key without its last newline, which the store leaves out.
      await writePrivate(pathOf(field), `${texts[field] ?? fields[field] ?? ""}\n`);
    }
    for (const [variable, template] of Object.entries(fileEnv)) {
      env[variable] ??= template.replace(placeholder, (_whole, field: string) => pathOf(field));
    }
  }
  return env;
}

function fieldsNamed({ fileEnv = {} }: JobCredential): ReadonlySet<string> {
  const names = Object.values(fileEnv).flatMap((template) => [...template.matchAll(placeholder)]);
  return new Set(names.map(([, field = ""]) => field));
}
