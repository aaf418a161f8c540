import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job, JobCredential } from "../contracts/job.ts";

/** A field's name within a variable's template. */
const placeholder = /\{([A-Za-z0-9_-]+)\}/g;

/**
 * Writes the fields that only work as files, under the run's own user and for its eyes only, into the working
 * directory, with which they go. Resolves to the variables that say where they are.
 */
export async function writeCredentialFiles({
  credentials,
  workDir,
}: Job): Promise<Readonly<Record<string, string>>> {
  const env: Record<string, string> = {};
  for (const credential of credentials) {
    const dir = join(workDir, ".credentials", `${credential.type}-${credential.instance}`);
    for (const field of fieldsNamed(credential)) await writeField(dir, field, credential);
    for (const [name, template] of Object.entries(credential.fileEnv ?? {})) {
      env[name] ??= template.replace(placeholder, (_whole, field: string) => join(dir, field));
    }
  }
  return env;
}

function fieldsNamed({ fileEnv = {} }: JobCredential): ReadonlySet<string> {
  const names = Object.values(fileEnv).flatMap((template) => [...template.matchAll(placeholder)]);
  return new Set(names.map(([, field = ""]) => field));
}

async function writeField(
  dir: string,
  field: string,
  { fields, texts }: JobCredential,
): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const content = fields[field] ?? texts?.[field] ?? "";
  // ssh refuses a private key without its last newline, which the store leaves out.
  await writeFile(join(dir, field), `${content}\n`, { mode: 0o600 });
}
