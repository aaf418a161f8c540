import { readFile } from "node:fs/promises";
import { isatty } from "node:tty";
import { credentialName } from "../../../foundation/contracts/credential-reference.ts";
import type { CredentialReference } from "../../../foundation/contracts/credential-reference.ts";
import { closest, meant } from "../../../foundation/contracts/did-you-mean.ts";
import type { CredentialField } from "../../../foundation/credentials/credential-type.ts";
import {
  credentialType,
  schedulersUseOf,
  secretsOf,
} from "../../../foundation/credentials/credential-types.ts";
import { storeField } from "../../../foundation/credentials/edit-credential.ts";
import { shortestHidden } from "../../../foundation/credentials/encoded-forms.ts";
import { homeDir } from "../../../foundation/credentials/read-secret.ts";
import { listCredentials } from "../../../foundation/credentials/list-credentials.ts";
import { Problem, usageError, failureOf } from "../../../foundation/errors.ts";
import type { GlobalContext } from "../context.ts";
import { missingFlag, openPrompts, type Prompts } from "../terminal/prompts.ts";
import { credentialOf, typeMeant } from "./credentials.ts";

export interface AddOptions {
  readonly field?: string;
  readonly fromFile?: string;
  readonly replace?: true;
}

/** A field's name and its secret. */
type Entry = readonly [string, string];

/** Stores a secret that a person types, or from standard input or a file. Throws a Problem. */
export async function addCredential(
  context: GlobalContext,
  name: string,
  options: AddOptions,
): Promise<void> {
  const { out, env } = context;
  const reference = credentialOf(name);
  const near = typeMeant(reference.type);
  if (near !== null) out.note(`${reference.type} is not a known type; ${meant(near)}`);
  const entries = await entriesFor(context, reference, options);
  const home = homeDir(env);
  const paths: string[] = [];
  for (const [field, secret] of entries) {
    const replace = options.replace === true;
    paths.push(await storeField(home, { ...reference, field, secret, replace }));
  }
  const { variables, problem, fields } = await storedCredential(home, reference);
  const secrets = secretsOf({ ...reference, fields: Object.fromEntries(entries) });
  if (secrets.some((secret) => secret.trim().length < shortestHidden)) {
    out.note(`a secret of fewer than ${shortestHidden} characters is not redacted in logs`);
  }
  if (out.json) return out.document({ name: credentialName(reference), paths, variables, problem });
  out.data(storedText(reference, variables));
  const note = noteOn(reference, fields, problem);
  if (note !== null) out.note(note);
}

async function storedCredential(home: string, reference: CredentialReference) {
  const all = await listCredentials(home);
  const stored = all.find(({ name }) => name === credentialName(reference));
  return stored ?? { variables: [], problem: null, fields: [] };
}

function storedText(reference: CredentialReference, variables: readonly string[]): string {
  const use = schedulersUseOf(reference.type) ?? useOfRuns(variables);
  const stored = `${credentialName(reference)} is stored`;
  return use === null ? stored : `${stored}; ${use}`;
}

/** Why a stored credential can't be used yet; null if it can. */
function noteOn(
  reference: CredentialReference,
  fields: readonly { readonly name: string }[],
  problem: string | null,
): string | null {
  const name = credentialName(reference);
  const lacks = missingField(
    reference.type,
    fields.map((field) => field.name),
  );
  if (lacks === undefined) return problem === null ? null : `It can't be used yet: ${problem}`;
  return `Not complete yet: ${name} also needs \`${lacks}\`. Add it with \`al creds add ${name} --field ${lacks}\`.`;
}

function missingField(type: string, stored: readonly string[]): string | undefined {
  const fields = Object.entries(credentialType(type)?.fields ?? {});
  return fields.find(([name, { optional }]) => !optional && !stored.includes(name))?.[0];
}

function useOfRuns(variables: readonly string[]): string | null {
  return variables.length === 0
    ? null
    : `runs of agents that list it get it as ${variables.join(", ")}`;
}

async function entriesFor(
  context: GlobalContext,
  { type }: CredentialReference,
  options: AddOptions,
): Promise<Entry[]> {
  const known = credentialType(type)?.fields ?? {};
  if (options.fromFile !== undefined) {
    return [[fieldOf(type, known, options), await secretIn(options.fromFile)]];
  }
  const prompts = await openPrompts(context);
  if (prompts === null) return [[fieldOf(type, known, options), await piped()]];
  const asked =
    options.field === undefined && Object.keys(known).length > 0
      ? Object.entries(known)
      : [[options.field ?? (await prompts.text({ message: "Field" })), {}] as const];
  return askAll(asked, prompts);
}

type Asked = readonly (readonly [string, Partial<CredentialField>])[];

/** An optional field left empty is omitted. */
async function askAll(fields: Asked, prompts: Prompts): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const [name, field] of fields) {
    const value = await ask(name, field, prompts);
    if (value !== "" || !field.optional) entries.push([name, value]);
  }
  return entries;
}

/** A field that only works as a file is too long to type: the question is for its path. */
async function ask(name: string, field: Partial<CredentialField>, prompts: Prompts) {
  const { description, env, optional, open } = field;
  const label = description === undefined ? name : `${name} (${description})`;
  const message = optional ? `${label}, or nothing` : label;
  if (env?.length === 0) {
    const path = await prompts.text({ message: `File with ${message}` });
    return path === "" ? "" : secretIn(path);
  }
  return open ? prompts.text({ message }) : prompts.secret(message);
}

/** The field of a single secret: the flag's, else the type's only required one. */
function fieldOf(
  type: string,
  known: Readonly<Record<string, CredentialField>>,
  { field, replace }: AddOptions,
): string {
  const names = Object.keys(known);
  if (field !== undefined) {
    // A stored field beyond those of its type can be replaced.
    const near = names.includes(field) || replace === true ? null : closest(field, names);
    if (near === null) return field;
    throw new Problem("usage", `the type ${type} has no field "${field}"`, {
      hint: meant(near),
      exitCode: 2,
    });
  }
  const needed = names.filter((name) => known[name]?.optional === undefined);
  const [only] = needed;
  if (only !== undefined && needed.length === 1) return only;
  throw missingFlag(
    "--field",
    names.length === 0
      ? `${type} is not a known type (al creds ls --types), so the field's name is up to you`
      : `${type} has no single field; one of ${names.join(", ")}`,
  );
}

async function secretIn(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw failureOf("unreadable_file", `${path} can't be read`, error);
  }
}

/** Enough for any secret: a longer one is rejected when it is stored. */
const maxPiped = 1024 * 1024;

async function piped(): Promise<string> {
  if (isatty(0)) {
    throw usageError(
      "the secret is read from standard input, which is a terminal",
      "Pipe it in, or leave out --json and redirections to be prompted for it.",
    );
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > maxPiped) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}
