import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isSchemaFileName, schemaFileName } from "../contracts/schema-file-name.ts";
import { readText } from "./read-file.ts";
import type { FileText } from "./read-file.ts";
import { maxConfigBytes } from "./read-project.ts";
import { createSchemaChecker } from "./schema-check/schema-checker.ts";
import type { SchemaProblem } from "./schema-check/compile-schema.ts";

/** A JSON Schema in an agent's directory. */
export type SchemaFile = FileText | { readonly type: "invalid"; readonly problem: SchemaProblem };

/** An agent has one; there may be other JSON files. */
const maxSchemas = 10;

/** One thread of its own for all schemas. */
export const schemaChecker = createSchemaChecker();

/** Names of JSON files in an agent's config: `[expect].schema`, before the config has been parsed. */
export function namedSchemas(config: string): readonly string[] {
  const names = config.matchAll(new RegExp(`["'](${schemaFileName})["']`, "g"));
  return [...new Set([...names].map(([, name = ""]) => name))].slice(0, maxSchemas);
}

/** All that an agent's config could name. Never throws. */
export async function listSchemas(projectDir: string, agent: string): Promise<readonly string[]> {
  const names = await readdir(join(projectDir, "agents", agent)).catch(() => []);
  return names.filter(isSchemaFileName).slice(0, maxSchemas);
}

/** Files of an agent's directory, checked. Never throws. */
export async function readSchemas(
  projectDir: string,
  agent: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, SchemaFile>> {
  const read = async (name: string) => {
    const path = join(projectDir, "agents", agent, name);
    return [name, await checked(await readText(path, projectDir, maxConfigBytes))] as const;
  };
  return new Map(await Promise.all(names.map(read)));
}

async function checked(file: FileText): Promise<SchemaFile> {
  if (file.type !== "text") return file;
  const problem = await schemaChecker.problemOf(file.text);
  return problem === null ? file : { type: "invalid", problem };
}
