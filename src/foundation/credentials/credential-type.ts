/** One secret of a credential. */
export interface CredentialField {
  readonly description: string;
  /** Environment variables that expose the field; empty for a field that only works as a file. */
  readonly env: readonly string[];
  readonly optional?: true;
  /** True for a public value, such as a region or a name: hiding it would only shred the logs. */
  readonly open?: true;
}

/** A variable that names the files of fields, which the run writes for itself. */
export interface FileVariable {
  readonly variable: string;
  /** The field in the variable's long name. */
  readonly field: string;
  /** `{field}` stands for the absolute path of the file of that field, or of that text of the type. */
  readonly value: string;
}

/** How git authenticates with a credential over HTTPS: with its field `token`, at its field `host` if it has one. */
export interface GitLogin {
  /** The default host of a credential. */
  readonly host: string;
  readonly username: string;
}

/** A type of credential that the program knows. */
export interface CredentialType {
  readonly description: string;
  readonly fields: Readonly<Record<string, CredentialField>>;
  /** The fields that runs get in place of the stored ones: for a type with which the scheduler mints tokens. */
  readonly inRun?: Readonly<Record<string, CredentialField>>;
  /** File variables for the existing fields. */
  readonly files?: (has: (field: string) => boolean) => readonly FileVariable[];
  /** Public texts, the same for all credentials of the type; the run writes those in `files` as files. */
  readonly texts?: Readonly<Record<string, string>>;
  readonly git?: GitLogin;
  /** The presets of `[network].allow` implied by the type; empty for a service without fixed hosts. */
  readonly presets?: readonly string[];
  /** The hosts that its secrets are for, by HTTPS; none for a type that signs with its secret, such as `aws`. */
  readonly hosts?: readonly string[];
}

type Trait = "optional" | "open";

export function field(
  description: string,
  env: readonly string[],
  ...traits: readonly Trait[]
): CredentialField {
  return { description, env, ...Object.fromEntries(traits.map((trait) => [trait, true])) };
}

/** A type with one field. */
export function single(
  description: string,
  name: string,
  ...env: readonly string[]
): CredentialType {
  return { description, fields: { [name]: field(description, env) } };
}
