import { credentialName } from "../../../foundation/contracts/credential-reference.ts";
import { removeCredential } from "../../../foundation/credentials/edit-credential.ts";
import { homeDir } from "../../../foundation/credentials/home-dir.ts";
import { listCredentials } from "../../../foundation/credentials/list-credentials.ts";
import { UserError } from "../../../foundation/errors.ts";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import type { GlobalContext } from "../context.ts";
import { missingFlag, openPrompts } from "../terminal/prompts.ts";
import { credentialOf } from "./reference.ts";

export interface RemoveOptions {
  readonly field?: string;
  readonly yes?: true;
}

/** Removes a credential, or one of its fields, after asking. Throws a UserError when there is none. */
export async function removeStored(
  context: GlobalContext,
  given: string,
  options: RemoveOptions,
): Promise<void> {
  const { out, env } = context;
  const reference = credentialOf(given);
  const name = credentialName(reference);
  const home = homeDir(env);
  const field = options.field ?? null;
  const stored = await listCredentials(home);
  const found = stored.find((one) => one.name === name);
  const names = stored.map((one) => one.name);
  if (found === undefined) throw unknown(name, names);
  const fields = found.fields.map((one) => one.name);
  if (field !== null && !fields.includes(field)) throw unknown(`${name} ${field}`, fields);
  if (!options.yes) await confirm(context, field === null ? name : `${field} of ${name}`);
  const removed = await removeCredential(home, reference, field);
  if (out.json) return out.document({ name, removed });
  out.data(`${name} is removed (${removed.join(", ")})`);
}

async function confirm(context: GlobalContext, what: string): Promise<void> {
  const prompts = await openPrompts(context);
  if (prompts === null) throw missingFlag("--yes", `${what} would be gone for good`);
  if (await prompts.confirm(`Remove ${what} for good?`)) return;
  throw new UserError("refused", "nothing was removed");
}

function unknown(name: string, known: readonly string[]): UserError {
  const listed = known.length === 0 ? "there are none" : `there are: ${known.join(", ")}`;
  return new UserError("unknown_credential", `there is no ${name}`, {
    hint: meantOr(name, known, listed),
  });
}
