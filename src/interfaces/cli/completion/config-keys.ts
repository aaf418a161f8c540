import { isPlainObject } from "../../../foundation/contracts/plain-object.ts";
import { schemaOf } from "../../operations/editor-schemas.ts";
import type { SchemaName } from "../../operations/editor-schemas.ts";
import { tablesIn } from "./project-names.ts";
import type { Proposal } from "./proposal.ts";

/** The keys of a kind of `config.toml`, dotted; for tables with names of their own those that the project has. */
export function configKeysOf(kind: SchemaName, projectDir: string): readonly Proposal[] {
  return keysOf(schemaOf(kind), "", (key) => (kind === "project" ? tablesIn(projectDir, key) : []));
}

function keysOf(
  schema: Readonly<Record<string, unknown>>,
  prefix: string,
  tables: (key: string) => readonly string[],
): readonly Proposal[] {
  const { properties } = schema;
  if (!isPlainObject(properties)) return [];
  return Object.entries(properties).flatMap(([key, value]) => {
    const word = `${prefix}${key}`;
    if (!isPlainObject(value)) return [];
    if (isPlainObject(value.properties)) return keysOf(value, `${word}.`, tables);
    const { additionalProperties: table } = value;
    if (!isPlainObject(table)) return [{ word, description: firstSentence(value.description) }];
    return tables(word).flatMap((name) => keysOf(table, `${word}.${name}.`, tables));
  });
}

/** What fits into a shell's list; a tab or line break would end the proposal. */
function firstSentence(description: unknown): string {
  if (typeof description !== "string") return "";
  const [first = ""] = description.replaceAll(/\s+/g, " ").split(/\.(?: (?=[A-Z"])|$)/);
  return first;
}
