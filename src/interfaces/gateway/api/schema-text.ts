import type { JsonSchema } from "./openapi.ts";

/** A schema as people write types: `{ agent: string, runs?: integer[] }`, on several lines when it is long. */
export function schemaText(schema: JsonSchema, indent = ""): string {
  const { $ref, anyOf, enum: values, type, properties } = schema;
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? "";
  if ("const" in schema) return JSON.stringify(schema.const);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(anyOf)) return oneOfText(anyOf as readonly JsonSchema[], indent);
  if (Array.isArray(type)) return type.join(" | ");
  if (type === "array") return listText(schema, indent);
  if (properties !== undefined) return objectText(schema, indent);
  if (schema.format === "date-time") return "date-time";
  return typeof type === "string" ? type : "any";
}

/** What else holds for a value: its bounds, and what it is when it is left out. */
export function boundsText({ minimum, maximum, default: fallback }: JsonSchema): string {
  const bounds = minimum === undefined ? "" : `${Number(minimum)}–${Number(maximum ?? Infinity)}`;
  const parts = [
    bounds.replace("–Infinity", " or more"),
    fallback === undefined ? "" : `default ${JSON.stringify(fallback)}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function oneOfText(schemas: readonly JsonSchema[], indent: string): string {
  return schemas.map((schema) => schemaText(schema, indent)).join(" | ");
}

function listText({ items, prefixItems }: JsonSchema, indent: string): string {
  if (Array.isArray(prefixItems)) {
    const texts = (prefixItems as readonly JsonSchema[]).map((item) => schemaText(item, indent));
    return `[${texts.join(", ")}]`;
  }
  const text = schemaText((items as JsonSchema | undefined) ?? {}, indent);
  return text.includes(" | ") && !text.startsWith("{") ? `(${text})[]` : `${text}[]`;
}

const longLine = 60;

function objectText(schema: JsonSchema, indent: string): string {
  const required = new Set(schema.required as readonly string[] | undefined);
  const inner = `${indent}  `;
  const fields = Object.entries(schema.properties as Readonly<Record<string, JsonSchema>>).map(
    ([name, field]) =>
      `${name}${required.has(name) ? "" : "?"}: ${schemaText(field, inner)}${noteOf(field)}`,
  );
  const line = `{ ${fields.join(", ")} }`;
  const isShort = line.length <= longLine && !line.includes("\n") && !line.includes("//");
  return isShort ? line : `{\n${fields.map((field) => `${inner}${field}\n`).join("")}${indent}}`;
}

function noteOf({ description }: JsonSchema): string {
  return typeof description === "string" ? `  // ${description}` : "";
}
