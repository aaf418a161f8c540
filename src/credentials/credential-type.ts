/** One secret of a credential. */
export interface CredentialField {
  readonly description: string;
  /** Environment variables that it is exposed as; none for what only works as a file. */
  readonly env: readonly string[];
  readonly optional?: true;
  /** True for what everybody may read, such as a region or a name: hiding it would only shred the logs. */
  readonly open?: true;
}

/** A variable that says where fields are as files; the run writes these for itself. */
export interface FileVariable {
  readonly variable: string;
  /** The field that it is about, in the variable's long name. */
  readonly field: string;
  /** `{field}` stands for the absolute path of that field's file. */
  readonly value: string;
}

/** What the program knows about a type of credential. */
export interface CredentialType {
  readonly description: string;
  readonly fields: Readonly<Record<string, CredentialField>>;
  /** For the fields that are there. */
  readonly files?: (has: (field: string) => boolean) => readonly FileVariable[];
}

/** A type with one field. */
export function single(
  description: string,
  field: string,
  ...env: readonly string[]
): CredentialType {
  return { description, fields: { [field]: { description, env } } };
}
