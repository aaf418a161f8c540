import { z } from "zod";
import type { FilterField, FilterTable } from "../contracts/webhook-filters.ts";
import { agentSchema } from "./agent-keys.ts";
import { completeModel, startedAgent } from "./editor-rules.ts";
import { expectation, meaning } from "./explain-schema.ts";
import { projectSchema } from "./project-schema.ts";
import { schedulePattern } from "./schedule-pattern.ts";
import { timezoneNames } from "./timezone-names.ts";
import { commonFields } from "./webhook-bindings.ts";

/** A JSON Schema (draft 2020-12), for editors that check TOML files by one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The schema of the project's `config.toml`. */
export function projectJsonSchema(filters: FilterTable): JsonSchema {
  const schema = jsonSchemaOf(projectSchema, "Almanac project");
  const type = at(schema, "properties", "webhooks", "additionalProperties", "properties", "type");
  type.enum = Object.keys(filters);
  at(schema, "properties", "timezone").enum = timezoneNames();
  Object.assign(at(schema, "properties", "models", "additionalProperties"), completeModel());
  return schema;
}

/** The schema of an agent's `config.toml`, with the filters of every type of webhook source. */
export function agentJsonSchema(filters: FilterTable): JsonSchema {
  const schema = jsonSchemaOf(agentSchema, "Almanac agent");
  const entry = at(schema, "properties", "webhooks", "items");
  entry.additionalProperties = false;
  Object.assign(at(entry, "properties"), filterProperties(filters));
  at(schema, "properties", "schedule").pattern = schedulePattern();
  at(schema, "properties", "timezone").enum = timezoneNames();
  return Object.assign(schema, startedAgent);
}

type Node = Record<string, unknown>;

function jsonSchemaOf(schema: z.ZodType, title: string): Node {
  const json = z.toJSONSchema(schema, {
    io: "input",
    override: ({ zodSchema, jsonSchema }) => {
      const description = descriptionOf(zodSchema);
      if (description !== null) jsonSchema.description = description;
    },
  });
  return { ...json, title };
}

/** What a key is for, and what it takes. */
function descriptionOf(schema: z.core.$ZodType): string | null {
  const expected = expectation(schema);
  const parts = [meaning(schema), expected === null ? null : `Expected: ${expected}.`];
  return parts.filter((part) => part !== null).join(" ") || null;
}

function at(node: Node, ...path: readonly string[]): Node {
  return path.reduce((inner, key) => inner[key] as Node, node);
}

/** A field that two types of source have is described by the first, and takes the values of both. */
function filterProperties(filters: FilterTable): Node {
  const properties: Node = {};
  const types = [...Object.entries(filters), ["every source", commonFields] as const];
  for (const [type, fields] of types) {
    for (const [name, field] of Object.entries(fields)) {
      const known = properties[name] as { description: string } | undefined;
      const description = `${type}: ${field.meaning}`;
      properties[name] =
        known === undefined
          ? { ...typeOf(field), description }
          : { ...known, description: `${known.description}\n${description}` };
    }
  }
  return properties;
}

function typeOf({ kind }: FilterField): Node {
  if (kind !== "strings") return { type: kind };
  return { type: "array", items: { type: "string" } };
}
