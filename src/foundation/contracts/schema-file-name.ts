/** Name of a file in an agent's directory that `[expect].schema` may be. */
export const schemaFileName = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}\\.json";
const pattern = new RegExp(`^${schemaFileName}$`);

export function isSchemaFileName(name: string): boolean {
  return pattern.test(name);
}
