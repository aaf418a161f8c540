import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ApiDocument, ApiOperation } from "./api-document.ts";

interface Schema {
  readonly [key: string]: unknown;
  readonly $ref?: string;
}
interface Parameter {
  readonly $ref?: string;
  readonly in: string;
  readonly name: string;
  readonly type?: string;
  readonly schema?: Schema;
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
  readonly schema?: Schema;
}
interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly components?: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * The OpenAPI of the API server as Kubernetes publishes it: `api/openapi-spec/swagger.json` of its repository, or a folder
 * with files of `api/openapi-spec/v3`. Apache-2.0.
 */
export function publishedApi(path: string): ApiDocument {
  const isFolder = statSync(path).isDirectory();
  const files = isFolder ? readdirSync(path).map((name) => join(path, name)) : [path];
  const documents = files.map((file) => JSON.parse(readFileSync(file, "utf8")) as Document);
  return {
    source: path,
    operations: documents.flatMap(operationsOf),
    schemas: Object.fromEntries(documents.flatMap(schemasOf)),
  };
}

function schemasOf({ definitions, components }: Document): [string, Schema][] {
  const all = Object.entries(definitions ?? components?.schemas ?? {});
  return all.map(([name, schema]) => [name, strict(schema) as Schema]);
}

/** In the words of draft 7, and no field but those that are named. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (typeof schema !== "object" || schema === null) return schema;
  const given = schema as Schema;
  const { format } = given;
  if (format === "int-or-string") return { type: ["string", "integer"] };
  const entries = Object.entries(given).flatMap(([key, value]) => {
    if (key === "$ref") return [[key, referred(value as string)]];
    // Texts for people, and names of properties that are keywords elsewhere.
    if (key === "description" || key === "default" || key.startsWith("x-")) return [];
    if (key !== "properties") return [[key, strict(value)]];
    const properties = Object.entries(value as object).map(([name, of]) => [name, strict(of)]);
    return [[key, Object.fromEntries(properties)]];
  });
  const isClosed = given.properties !== undefined && given.additionalProperties === undefined;
  return { ...Object.fromEntries(entries), ...(isClosed && { additionalProperties: false }) };
}

function referred(ref: string): string {
  return `#/definitions/${nameOf(ref)}`;
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

const methods = ["get", "post", "put", "patch", "delete"];

function operationsOf({ paths, parameters: shared = {} }: Document): ApiOperation[] {
  const resolved = (list: readonly Parameter[] = []) =>
    list.map((given) => (given.$ref === undefined ? given : (shared[nameOf(given.$ref)] ?? given)));
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, value]) => {
      if (!methods.includes(method)) return [];
      const operation = value as Operation;
      const ofPath = resolved(item.parameters as readonly Parameter[] | undefined);
      const parameters = [...ofPath, ...resolved(operation.parameters)];
      const body = operation.requestBody ?? parameters.find((each) => each.in === "body");
      return [
        {
          method: method.toUpperCase(),
          path,
          query: queryOf(parameters),
          body: schemaOf(body),
          answers: Object.fromEntries(
            Object.entries(operation.responses).map(([status, of]) => [status, schemaOf(of)]),
          ),
        },
      ];
    }),
  );
}

function queryOf(parameters: readonly Parameter[]): Record<string, string> {
  const query = parameters.filter((each) => each.in === "query");
  return Object.fromEntries(
    query.map(({ name, type, schema }) => [name, type ?? String(schema?.type)]),
  );
}

/** JSON comes first where a content has several types. */
function schemaOf(content: Content | undefined): string | null {
  const schema = content?.schema ?? Object.values(content?.content ?? {})[0]?.schema;
  return schema?.$ref === undefined ? null : nameOf(schema.$ref);
}
