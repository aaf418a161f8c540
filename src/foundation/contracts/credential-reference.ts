/** A credential as configs name it: `type` for the default instance, `type:instance` for a named one. */
export interface CredentialReference {
  readonly type: string;
  readonly instance: string;
}

/** Types and instances become directory names: no separators, no leading dot. */
const referencePattern = /^([a-z0-9][a-z0-9_-]{0,62})(?::([A-Za-z0-9][A-Za-z0-9_.-]{0,62}))?$/;
const instancePattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** The parts of a reference, null if the text is not one. */
export function parseCredentialReference(reference: string): CredentialReference | null {
  const [, type, instance = "default"] = referencePattern.exec(reference) ?? [];
  return type === undefined ? null : { type, instance };
}

export function isCredentialInstance(name: string): boolean {
  return instancePattern.test(name);
}

/** The type of the gateway's own key, which no agent may have. */
export const gatewayKeyType = "gateway_api_key";

/** The type of a GitHub App, whose private key no run has. */
export const githubAppType = "github_app";

/** A credential as configs name it. */
export function credentialName({ type, instance }: CredentialReference): string {
  return instance === "default" ? type : `${type}:${instance}`;
}

/** Valid agent names, as part of a regular expression. Some matching names are reserved. */
export const agentNamePattern = "[a-z0-9][a-z0-9-]{0,62}";

/** The folder of an agent's directory in which schemas may be, too. */
export const schemasFolder = "schemas";

/** Path of a file in an agent's directory that `schema` may have. */
export const schemaFileName = `(?:${schemasFolder}/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\\.json`;
const pattern = new RegExp(`^${schemaFileName}$`);

export function isSchemaFileName(name: string): boolean {
  return pattern.test(name);
}
