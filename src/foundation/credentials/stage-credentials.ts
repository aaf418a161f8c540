import type { JobCredential } from "../contracts/job.ts";
import { credentialType, fieldsInRun } from "./credential-types.ts";
import type { Credential } from "./load-credential.ts";
import { parseCredentialReference } from "../contracts/credential-reference.ts";

interface Variable {
  /** The field in the variable. */
  readonly field: string;
  readonly name: string;
  /** A second name, used when another credential sets `name` too. */
  readonly longName: string;
  readonly value: string;
  /** Whether its value names a file that the run writes. */
  readonly isFile: boolean;
}

/**
 * Adds the environment variables to credentials, in the order in which the agent names them. If two set the same
 * variable, the first wins, and each is also set as `<TYPE>_<INSTANCE>_<FIELD>`; so no two set the same, and all can be
 * merged.
 */
export function stageCredentials(credentials: readonly Credential[]): JobCredential[] {
  const own = credentials.map((credential) => [...plain(credential), ...files(credential)]);
  const setters = new Map<string, number>();
  for (const { name } of own.flat()) setters.set(name, (setters.get(name) ?? 0) + 1);
  const taken = new Set<string>();
  const mine = own.map((variables) =>
    variables.flatMap((variable) =>
      namesOf(variable, setters).flatMap((name) => {
        if (taken.has(name)) return [];
        taken.add(name);
        return [{ ...variable, name }];
      }),
    ),
  );
  return credentials.map((credential, index) => staged(credential, mine[index] ?? []));
}

function staged(credential: Credential, variables: readonly Variable[]): JobCredential {
  const envOf = (isFile: boolean) =>
    Object.fromEntries(
      variables
        .filter((variable) => variable.isFile === isFile)
        .map(({ name, value }) => [name, value]),
    );
  const fileEnv = envOf(true);
  const git = gitAccess(credential, variables);
  const { texts } = credentialType(credential.type) ?? {};
  return {
    ...credential,
    fields: { ...credential.fields },
    env: envOf(false),
    ...(Object.keys(fileEnv).length === 0 ? {} : { fileEnv }),
    ...(texts === undefined ? {} : { texts: { ...texts } }),
    ...(git === null ? {} : { git }),
  };
}

/** Where git authenticates with the credential, by a variable that no other credential sets. */
function gitAccess(
  { type, fields }: Credential,
  variables: readonly Variable[],
): JobCredential["git"] | null {
  const login = credentialType(type)?.git;
  const token = variables.find(({ field }) => field === "token");
  if (login === undefined || token === undefined) return null;
  const { username, host } = login;
  return { url: `https://${fields.host ?? host}`, username, variable: token.name };
}

function namesOf({ name, longName }: Variable, setters: ReadonlyMap<string, number>): string[] {
  return (setters.get(name) ?? 0) > 1 ? [name, longName] : [name];
}

function plain({ type, instance, fields }: Credential): Variable[] {
  const known = fieldsInRun(type);
  return Object.entries(fields).flatMap(([field, value]) => {
    const longName = variableName(type, instance, field);
    const described = Object.hasOwn(known, field) ? known[field] : undefined;
    const names = described?.env ?? [variableName(type, field)];
    return names.map((name) => ({ field, name, longName, value, isFile: false }));
  });
}

function files({ type, instance, fields }: Credential): Variable[] {
  const variables = credentialType(type)?.files?.((field) => Object.hasOwn(fields, field)) ?? [];
  return variables.map(({ variable, field, value }) => {
    const longName = variableName(type, instance, field);
    return { field, name: variable, longName, value, isFile: true };
  });
}

/** `<TYPE>_<FIELD>` and the like, with the characters of a variable name. */
function variableName(...parts: readonly string[]): string {
  const name = parts
    .join("_")
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, "_");
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/**
 * Whether runs may get `variable` from the credential that `reference` names, even if it is not stored. A type that the
 * program does not know has unknown fields: each variable with the type's prefix counts as one of them.
 */
export function setsVariable(reference: string, variable: string): boolean {
  const parsed = parseCredentialReference(reference);
  if (parsed === null) return false;
  const { type, instance } = parsed;
  const known = credentialType(type);
  if (known === null) return variable.startsWith(`${variableName(type)}_`);
  const files = known.files?.(() => true) ?? [];
  const inRun = fieldsInRun(type);
  const fields = [...Object.keys(inRun), ...files.map(({ field }) => field)];
  return [
    ...Object.values(inRun).flatMap(({ env }) => env),
    ...files.map((file) => file.variable),
    ...fields.map((field) => variableName(type, instance, field)),
  ].includes(variable);
}
