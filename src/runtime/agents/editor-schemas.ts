import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentJsonSchema, projectJsonSchema } from "../../foundation/config/json-schema.ts";
import type { JsonSchema } from "../../foundation/config/json-schema.ts";
import { replaceFile } from "../../foundation/files/replace-file.ts";
import { ensureStateDir } from "../../foundation/store/state-dir.ts";
import { filterTable } from "../../features/webhooks/providers/table.ts";

const names = ["project", "agent"] as const;
export type SchemaName = (typeof names)[number];

/** The first line of a TOML file, by which editors find its schema. `upwards` leads from the file to the project. */
export function schemaLine(name: SchemaName, upwards: string): string {
  return `#:schema ${upwards}.al/schema/${name}.json`;
}

/** The schemas made so far; making one takes 90 ms. */
const made = new Map<SchemaName, JsonSchema>();

/** The JSON Schema of a kind of `config.toml`. */
export function schemaOf(name: SchemaName): JsonSchema {
  const make = name === "project" ? projectJsonSchema : agentJsonSchema;
  const schema = made.get(name) ?? make(filterTable);
  made.set(name, schema);
  return schema;
}

/** A schema that is missing, or that another version of the program wrote. */
interface StaleSchema {
  readonly file: string;
  /** The text of this version. */
  readonly text: string;
}

/** Never throws: a schema that can't be read is stale. */
export async function staleSchemas(projectDir: string): Promise<readonly StaleSchema[]> {
  const stale = names.map(async (name) => {
    const file = `${name}.json`;
    const text = `${JSON.stringify(schemaOf(name), null, 2)}\n`;
    const found = await readFile(join(projectDir, ".al/schema", file), "utf8").catch(() => null);
    return found === text ? [] : [{ file, text }];
  });
  return (await Promise.all(stale)).flat();
}

/** Writes the stale schemas to the paths in the files' first lines. */
export async function writeSchemas(projectDir: string): Promise<void> {
  const stale = await staleSchemas(projectDir);
  if (stale.length === 0) return;
  const dir = join(ensureStateDir(projectDir), "schema");
  await mkdir(dir, { recursive: true });
  for (const { file, text } of stale) await replaceFile(join(dir, file), text, 0o600);
}
