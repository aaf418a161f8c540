import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiDocument, ApiOperation } from "./api-document.ts";

const generated = join(
  dirname(fileURLToPath(import.meta.resolve("@kubernetes/client-node"))),
  "gen",
);

/**
 * The OpenAPI of the API server as the official client has it: its models and requests are generated from the published
 * document of the release that its files name, with all fields, types, formats, and what is required. `kinds` are the
 * classes to begin with; those that they refer to come along.
 */
export function generatedApi(apis: readonly string[], kinds: readonly string[]): ApiDocument {
  const operations = apis.flatMap((api) => operationsOf(read("apis", `${api}.js`)));
  const wanted = [
    ...kinds,
    ...operations.flatMap(({ body, answers }) => [body, ...Object.values(answers)]),
  ];
  // Of a patch, which may have any fields, the client has no model.
  const schemas: Record<string, object> = { any: { type: "object" } };
  for (const name of wanted) addSchema(name, schemas);
  const release = /OpenAPI spec version: (\S+)/.exec(read("models", "V1Job.js"))?.[1];
  return { source: `@kubernetes/client-node, ${release ?? "unknown"}`, operations, schemas };
}

function read(...path: string[]): string {
  return readFileSync(join(generated, ...path), "utf8");
}

/** The requests of a class, from the methods that make them and those that read their answers. */
function operationsOf(code: string): ApiOperation[] {
  const methods = code.split(/^ {4}async /m).map((text) => [/^\w*/.exec(text)?.[0] ?? "", text]);
  const readers = new Map(methods as [string, string][]);
  return [...readers].flatMap(([name, text]) => {
    const path = /localVarPath = '([^']+)'/.exec(text)?.[1];
    const method = /HttpMethod\.(\w+)/.exec(text)?.[1];
    if (path === undefined || method === undefined) return [];
    const query = [...text.matchAll(/setQueryParam\("(\w+)", [^"]+"(\w+)"/g)];
    return [
      {
        method,
        path,
        query: Object.fromEntries(query.map(([, key = "", type = ""]) => [key, jsonType(type)])),
        body: /serialize\(body, "(\w+)"/.exec(text)?.[1] ?? null,
        answers: answersOf(readers.get(`${name}WithHttpInfo`) ?? ""),
      },
    ];
  });
}

function answersOf(text: string): Record<string, string | null> {
  const found = text.matchAll(/isCodeInRange\("(2\d\d)"[^]+?deserialize\([^]+?, "(\w+)", ""\)/g);
  return Object.fromEntries(
    [...found].map(([, status = "", type = ""]) => [status, type === "string" ? null : type]),
  );
}

function jsonType(type: string): string {
  return type === "number" ? "integer" : type;
}

interface Attribute {
  readonly baseName: string;
  readonly type: string;
  readonly format: string;
}

function addSchema(name: string | null, schemas: Record<string, object>): void {
  if (name === null || schemas[name] !== undefined || !existsSync(modelFile(name))) return;
  const code = readFileSync(modelFile(name), "utf8");
  const [, list = "[]"] = /attributeTypeMap = (\[[^]*?\n\]);/.exec(code) ?? [];
  const attributes = JSON.parse(list) as Attribute[];
  const types = read("models", `${name}.d.ts`);
  const isRequired = ({ baseName }: Attribute) =>
    new RegExp(`^ {4}'_?${baseName.replace("$", "\\$")}': `, "m").test(types);
  schemas[name] = {
    type: "object",
    properties: Object.fromEntries(
      attributes.map((each) => [each.baseName, schemaOf(each.type, each.format)]),
    ),
    required: attributes.filter(isRequired).map(({ baseName }) => baseName),
    additionalProperties: false,
  };
  for (const { type } of attributes)
    for (const [part] of type.matchAll(/\w+/g)) addSchema(part, schemas);
}

function modelFile(name: string): string {
  return join(generated, "models", `${name}.js`);
}

const specialTypes: Readonly<Record<string, object>> = {
  IntOrString: { type: ["string", "integer"] },
  Date: { type: "string", format: "date-time" },
  V1MicroTime: { type: "string", format: "date-time" },
};

function schemaOf(type: string, format: string): object {
  const items = /^Array<(.+)>$/.exec(type)?.[1];
  if (items !== undefined) return { type: "array", items: schemaOf(items, format) };
  const values = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  if (values !== undefined)
    return { type: "object", additionalProperties: schemaOf(values, format) };
  const special = specialTypes[type];
  if (special !== undefined) return special;
  if (type === "number") return { type: format.startsWith("int") ? "integer" : "number", format };
  if (type === "boolean" || type === "string")
    return { type, ...(format === "byte" && { format }) };
  return existsSync(modelFile(type)) ? { $ref: `#/definitions/${type}` } : {};
}
