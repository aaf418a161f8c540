import { parseCredentialReference } from "../contracts/credential-reference.ts";
import { credentialType } from "./credential-types.ts";
import { variableName } from "./stage-credentials.ts";

/**
 * Whether runs may get `variable` from the credential that `reference` names, whatever of it is stored. The fields of a
 * type that the program does not know are not known either: all that begins like its variables is taken for one.
 */
export function setsVariable(reference: string, variable: string): boolean {
  const parsed = parseCredentialReference(reference);
  if (parsed === null) return false;
  const { type, instance } = parsed;
  const known = credentialType(type);
  if (known === null) return variable.startsWith(`${variableName(type)}_`);
  const files = known.files?.(() => true) ?? [];
  const fields = [...Object.keys(known.fields), ...files.map(({ field }) => field)];
  return [
    ...Object.values(known.fields).flatMap(({ env }) => env),
    ...files.map((file) => file.variable),
    ...fields.map((field) => variableName(type, instance, field)),
  ].includes(variable);
}
