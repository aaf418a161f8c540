import { STATUS_CODES } from "node:http";
import type { FastifySchema } from "fastify";
import { z } from "zod";
import { sessionCookie } from "../session-cookie.ts";
import { problemSchema } from "./answers.ts";
import { noBody } from "./bodies.ts";
import type { DescribedRoute } from "./described-routes.ts";
import { createJsonSchemas } from "./json-schemas.ts";
import type { JsonSchema, JsonSchemas } from "./json-schemas.ts";

/** An OpenAPI 3.1 document, as far as it is read here. https://spec.openapis.org/oas/v3.1.1.html */
export interface OpenApi {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
}

export interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface RequestBody {
  readonly required: boolean;
  readonly content: Content;
}

export type Content = Readonly<Record<string, MediaType>>;

interface MediaType {
  readonly schema?: JsonSchema;
  /** OpenAPI 3.1 has no word for what a stream's events hold, so this is one of our own. */
  readonly "x-events"?: Readonly<Record<string, JsonSchema>>;
}

type Response = { readonly description: string; readonly content?: Content };

const description =
  "The API of one scheduler. Every refusal is a problem document (RFC 9457) whose `error` is a short stable code. " +
  "GET answers HEAD too, OPTIONS tells a path's methods, and another method is a 405.";

const securitySchemes = {
  key: { type: "http", scheme: "bearer", description: "The gateway's API key" },
  session: {
    ...{ type: "apiKey", in: "cookie", name: sessionCookie },
    description: "A browser's session, from POST /login",
  },
};

/** Describes routes by the very schemas that they parse with. */
export function describeApi(routes: readonly DescribedRoute[], version: string): OpenApi {
  const schemas = createJsonSchemas();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const path = route.url.replaceAll(/:(\w+)/g, "{$1}");
    const operations = (paths[path] ??= {});
    operations[route.method.toLowerCase()] = operationOf(route, schemas);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Almanac", version, description },
    paths,
    components: { securitySchemes, schemas: schemas.components() },
  };
}

const securityBy = {
  open: [],
  key: [{ key: [] }],
  operator: [{ key: [] }, { session: [] }],
} as const;

function operationOf({ url, access, schema }: DescribedRoute, schemas: JsonSchemas): Operation {
  const { summary = "", description, tag = "Other" } = schema;
  const body = bodyOf(schema, schemas);
  return {
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: securityBy[access],
    parameters: [
      ...parametersOf("path", schema.params ?? pathSchema(url), schemas),
      ...parametersOf("query", schema.querystring, schemas),
    ],
    ...(body === null ? {} : { requestBody: body }),
    responses: { ...answersOf(schema, schemas), ...problemsOf(schema, access, schemas) },
  };
}

/** A path whose parameters nobody described. */
function pathSchema(url: string): z.ZodType {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  return z.object(Object.fromEntries(names.map((name) => [name, z.string()])));
}

function parametersOf(where: "path" | "query", schema: unknown, schemas: JsonSchemas): Parameter[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const shape = schema.shape as Readonly<Record<string, z.ZodType>>;
  return Object.entries(shape).map(([name, field]) => {
    const { description, ...rest } = schemas.input(field);
    const required = where === "path" || !field.safeParse(undefined).success;
    const said = typeof description === "string" ? { description } : {};
    return { name, in: where, required, ...said, schema: rest };
  });
}

function bodyOf(
  { body, consumes = ["application/json"] }: FastifySchema,
  schemas: JsonSchemas,
): RequestBody | null {
  if (!(body instanceof z.ZodType) || body === noBody) return null;
  const schema = schemas.input(body);
  const content = Object.fromEntries(consumes.map((type) => [type, { schema }]));
  return { required: !body.safeParse(null).success, content };
}

function answersOf(
  { response, produces, events }: FastifySchema,
  schemas: JsonSchemas,
): Record<string, Response> {
  if (produces !== undefined) {
    const content = { [produces]: { schema: { type: "string" }, ...eventsOf(events, schemas) } };
    return { 200: { description: "OK", content } };
  }
  const answers = Object.entries(response ?? {}).map(([status, schema]) => {
    const description = STATUS_CODES[Number(status)] ?? "";
    if (!(schema instanceof z.ZodType) || schema instanceof z.ZodUndefined) {
      return [status, { description }] as const;
    }
    const content = { "application/json": { schema: schemas.output(schema) } };
    return [status, { description, content }] as const;
  });
  return Object.fromEntries(answers);
}

function eventsOf(events: FastifySchema["events"], schemas: JsonSchemas): MediaType {
  if (events === undefined) return {};
  const described = Object.entries(events).map(
    ([name, event]) => [name, schemas.output(event)] as const,
  );
  return { "x-events": Object.fromEntries(described) };
}

function problemsOf(
  { problems = [], querystring, body }: FastifySchema,
  access: DescribedRoute["access"],
  schemas: JsonSchemas,
): Record<string, Response> {
  const parses = querystring !== undefined || body !== undefined;
  const statuses = [
    ...(parses ? [400] : []),
    ...(access === "open" ? [] : [401]),
    ...(access === "operator" ? [403] : []),
    ...problems,
  ];
  const content = { "application/problem+json": { schema: schemas.output(problemSchema) } };
  return Object.fromEntries(
    statuses.map((status) => [status, { description: STATUS_CODES[status] ?? "", content }]),
  );
}
