import {
  gatewayKeyType,
  parseCredentialReference,
  credentialName,
} from "../../../foundation/contracts/credential-reference.ts";
import type { CredentialReference } from "../../../foundation/contracts/credential-reference.ts";
import { closest, meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import { credentialTypes } from "../../../foundation/credentials/credential-types.ts";
import { removeCredential } from "../../../foundation/credentials/edit-credential.ts";
import { listCredentials as readCredentials } from "../../../foundation/credentials/list-credentials.ts";
import type { StoredCredential } from "../../../foundation/credentials/list-credentials.ts";
import { homeDir, storeDir } from "../../../foundation/credentials/read-secret.ts";
import { Problem, usageError } from "../../../foundation/errors.ts";
import type { GlobalContext } from "../context.ts";
import { mustConfirm, openPrompts } from "../terminal/prompts.ts";
import { renderTable, titled } from "../terminal/table.ts";

/** Prints the stored credentials, or the types that the program knows. */
export async function listCredentials(
  context: GlobalContext,
  { types }: { readonly types?: true },
): Promise<void> {
  if (types) listTypes(context);
  else await listStored(context);
}

/** Prints the stored credentials: names, variables, modes, and the problem of an unusable one. Never a value. */
async function listStored({ out, env }: GlobalContext): Promise<void> {
  const home = homeDir(env);
  const credentials = await readCredentials(home);
  if (out.json) return out.document({ store: storeDir(home), credentials });
  if (credentials.length === 0) {
    return out.note(`no credentials in ${storeDir(home)} yet; al creds add <type> stores one`);
  }
  const columns = titled("Credential", "Fields", "Variables…");
  out.data(renderTable(columns, credentials.map(rowOf), out));
  for (const { name, problem } of credentials) {
    if (problem !== null) out.note(`${out.colors.red("error")} ${name}: ${problem}`);
  }
}

function rowOf({ name, fields, variables }: StoredCredential): string[] {
  const modes = fields.map((field) => `${field.name} ${field.mode}`);
  return [name, modes.join(", "), variables.join(", ")];
}

/** Prints the types that the program knows. */
function listTypes({ out }: GlobalContext): void {
  const types = Object.entries(credentialTypes).map(([type, { description, fields }]) => ({
    type,
    description,
    fields: Object.keys(fields),
    optional: Object.keys(fields).filter((name) => fields[name]?.optional === true),
  }));
  if (out.json) return out.document({ types });
  const rows = types.map(({ type, description, fields, optional }) => {
    const names = fields.map((name) => (optional.includes(name) ? `[${name}]` : name));
    return [type, names.join(", "), description];
  });
  out.data(renderTable(titled("Type", "Fields…", "What it is…"), rows, out));
}

/** The credential that a person names. Throws a Problem for an invalid name, and for the gateway's own key. */
export function credentialOf(name: string): CredentialReference {
  const reference = parseCredentialReference(name);
  if (reference === null) {
    // Not quoted: it may be a secret in the wrong place.
    throw usageError(
      "the argument is not a credential",
      "Use a type or type:instance, such as anthropic_key or github_token:bot.",
    );
  }
  if (reference.type !== gatewayKeyType) return reference;
  throw usageError(
    `${gatewayKeyType} is the gateway's own key`,
    "Print it with `al doctor --show-key`, or replace it with `al doctor --regenerate-key`.",
  );
}

/** The known type that an unknown one was probably meant to be; null without a similar one. */
export function typeMeant(type: string): string | null {
  if (Object.hasOwn(credentialTypes, type)) return null;
  const types = Object.keys(credentialTypes);
  return types.find((one) => one.startsWith(`${type}_`)) ?? closest(type, types);
}

export interface RemoveOptions {
  readonly field?: string;
  readonly yes?: true;
}

/** Removes a credential, or one of its fields, after asking. Throws a Problem if it is missing. */
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
  const stored = await readCredentials(home);
  const found = stored.find((one) => one.name === name);
  const names = stored.map((one) => one.name);
  if (found === undefined) throw unknown("there is no credential", name, names);
  const fields = found.fields.map((one) => one.name);
  if (field !== null && !fields.includes(field))
    throw unknown(`credential ${name} has no field`, field, fields);
  if (!options.yes) {
    const target = field === null ? name : `${field} of ${name}`;
    await mustConfirm(await openPrompts(context), {
      question: `Remove ${target} permanently?`,
      why: `${target} would be removed permanently`,
      refused: "nothing was removed",
    });
  }
  const removed = await removeCredential(home, reference, field);
  out.answer({ name, removed }, `${name} is removed (${removed.join(", ")})`);
}

function unknown(problem: string, name: string, known: readonly string[]): Problem {
  const listed =
    known.length === 0 ? "No credential is stored." : `Stored are ${known.join(", ")}.`;
  return new Problem("unknown_credential", `${problem} "${name}"`, meantOr(name, known, listed));
}
