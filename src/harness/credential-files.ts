import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Job, JobCredential } from "../contracts/job.ts";

/** A field's name within a variable's template. */
const placeholder = /\{([A-Za-z0-9_-]+)\}/g;

/**
 * Writes the fields that only work as files, under the run's own user and for its eyes only, into the working
 * directory, with which they go. Texts that are no secrets have a folder of their own. Resolves to the variables that
 * say where they are.
 */
export async function writeCredentialFiles({
  credentials,
  workDir,
}: Job): Promise<Readonly<Record<string, string>>> {
  const env: Record<string, string> = {};
  for (const credential of credentials) {
    const name = `${credential.type}-${credential.instance}`;
    const { texts = {} } = credential;
    const pathOf = (field: string) =>
      join(
        workDir,
        Object.hasOwn(texts, field) ? ".credential-texts" : ".credentials",
        name,
        field,
      );
    for (const field of fieldsNamed(credential)) {
      await writePrivate(pathOf(field), texts[field] ?? credential.fields[field] ?? "");
    }
    for (const [variable, template] of Object.entries(credential.fileEnv ?? {})) {
      env[variable] ??= template.replace(placeholder, (_whole, field: string) => pathOf(field));
    }
  }
  return env;
}

function fieldsNamed({ fileEnv = {} }: JobCredential): ReadonlySet<string> {
  const names = Object.values(fileEnv).flatMap((template) => [...template.matchAll(placeholder)]);
  return new Set(names.map(([, field = ""]) => field));
}

async function writePrivate(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // ssh refuses a private key without its last newline, which the store leaves out.
  await writeFile(path, `${content}\n`, { mode: 0o600 });
}
