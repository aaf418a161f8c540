import { credentialTypes } from "../../../foundation/credentials/credential-types.ts";
import { homeDir, storeDir } from "../../../foundation/credentials/home-dir.ts";
import { listCredentials } from "../../../foundation/credentials/list-credentials.ts";
import type { StoredCredential } from "../../../foundation/credentials/list-credentials.ts";
import type { GlobalContext } from "../context.ts";
import { renderTable } from "../terminal/table.ts";

/** Prints the stored credentials: names, variables, modes, and what keeps one from being used. Never a value. */
export async function listStored({ out, env }: GlobalContext): Promise<void> {
  const home = homeDir(env);
  const credentials = await listCredentials(home);
  if (out.json) return out.document({ store: storeDir(home), credentials });
  if (credentials.length === 0) {
    return out.note(`no credentials in ${storeDir(home)} yet; al creds add <type> stores one`);
  }
  const columns = [
    { title: "Credential" },
    { title: "Fields" },
    { title: "Variables", shrinks: true },
  ] as const;
  const { columns: width, colors } = out;
  out.data(renderTable(columns, credentials.map(rowOf), { width, colors }));
  for (const { name, problem } of credentials) {
    if (problem !== null) out.note(`${colors.red("error")} ${name}: ${problem}`);
  }
}

function rowOf({ name, fields, variables }: StoredCredential): string[] {
  const modes = fields.map((field) => `${field.name} ${field.mode}`);
  return [name, modes.join(", "), variables.join(", ")];
}

/** Prints the types that the program knows. */
export function listTypes({ out }: GlobalContext): void {
  const types = Object.entries(credentialTypes).map(([type, { description, fields }]) => ({
    type,
    description,
    fields: Object.keys(fields),
    optional: Object.keys(fields).filter((name) => fields[name]?.optional === true),
  }));
  if (out.json) return out.document({ types });
  const columns = [
    { title: "Type" },
    { title: "Fields", shrinks: true },
    { title: "What it is", shrinks: true },
  ] as const;
  const rows = types.map(({ type, description, fields, optional }) => {
    const names = fields.map((name) => (optional.includes(name) ? `[${name}]` : name));
    return [type, names.join(", "), description];
  });
  const { columns: width, colors } = out;
  out.data(renderTable(columns, rows, { width, colors }));
}
