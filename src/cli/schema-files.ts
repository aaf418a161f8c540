import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { agentJsonSchema, projectJsonSchema } from "../config/json-schema.ts";
import type { JsonSchema } from "../config/json-schema.ts";
import { ensureStateDir } from "../store/state-dir.ts";
import { filterTable } from "../webhooks/providers/table.ts";

export type SchemaName = "project" | "agent";

/** The first line of a TOML file, by which editors find its schema. `upwards` leads from the file to the project. */
export function schemaLine(name: SchemaName, upwards: string): string {
  return `#:schema ${upwards}.al/schema/${name}.json`;
}

/** The JSON Schema of a kind of `config.toml`. */
export function schemaOf(name: SchemaName): JsonSchema {
  return name === "project" ? projectJsonSchema(filterTable) : agentJsonSchema(filterTable);
}

/** Writes both schemas, as this version of the program has them, to where the files' first lines point. */
export async function writeSchemas(projectDir: string): Promise<void> {
  const dir = join(ensureStateDir(projectDir), "schema");
  await mkdir(dir, { recursive: true });
  for (const name of ["project", "agent"] as const) {
    await writeFile(join(dir, `${name}.json`), `${JSON.stringify(schemaOf(name), null, 2)}\n`);
  }
}
