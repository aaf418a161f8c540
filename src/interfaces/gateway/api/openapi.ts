import { STATUS_CODES } from "node:http";
import { z } from "zod";
import { sessionCookie } from "../auth.ts";
import { problemSchema } from "./answers.ts";
import { emptyBody } from "../../../foundation/contracts/params.ts";
import { scopeOf } from "../token-limits.ts";
import type { DescribedRoute } from "./route.ts";

/** An OpenAPI 3.1 document, as far as it is read here. https://spec.openapis.org/oas/v3.1.1.html */
export type OpenApi = ReturnType<typeof describeApi>;
export type Operation = ReturnType<typeof operationOf>;
export type JsonSchema = Readonly<Record<string, unknown>>;
export type Content = Readonly<Record<string, MediaType>>;

interface MediaType {
  readonly schema: JsonSchema;
  /** OpenAPI 3.1 has no field for the events of a stream, so this is our own. */
  readonly "x-events"?: Readonly<Record<string, JsonSchema>>;
}

interface Response {
  readonly description: string;
  readonly content?: Content;
}

/** Turns a zod schema into JSON Schema: of a request before defaults and conversions, or of a response. */
type ToJsonSchema = (schema: z.ZodType, io: "input" | "output") => JsonSchema;

const description =
  "The API of one scheduler. Every refusal is a problem document (RFC 9457) whose `error` is a short stable code. " +
  "HEAD works like GET, OPTIONS lists the methods of a path, and any other method is a 405.";

const securitySchemes = {
  key: { type: "http", scheme: "bearer", description: "The gateway's API key" },
  token: {
    type: "http",
    scheme: "bearer",
    description: "An API token, from POST /api/tokens, with the scope that the operation names",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: sessionCookie,
    description: "A browser's session, from POST /login",
  },
};

/** Describes routes by the very schemas that they parse with. */
export function describeApi(routes: readonly DescribedRoute[], version: string) {
  const schemas: Record<string, JsonSchema> = {};
  const convert = toJsonSchemaWith(schemas);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const path = route.url.replaceAll(/:(\w+)/g, "{$1}").replace(/\*$/, "{path}");
    const operations = (paths[path] ??= {});
    operations[route.method.toLowerCase()] = operationOf(route, convert);
  }
  return {
    openapi: "3.1.0" as const,
    info: { title: "Almanac", version, description },
    paths,
    components: { securitySchemes, schemas },
  };
}

const securityBy = {
  open: [],
  key: [{ key: [] }],
  operator: [{ key: [] }, { session: [] }],
} as const;

/** The scope of an API token that opens a route. */
function tokenSecurity(route: DescribedRoute) {
  const scope = route.access === "open" ? null : scopeOf(route);
  return scope === null ? [] : [{ token: scope === "any" ? [] : [scope] }];
}

function operationOf(route: DescribedRoute, convert: ToJsonSchema) {
  const { access, summary, description, tag, params, query, body, consumes } = route;
  const hasBody = body !== undefined && body !== emptyBody;
  return {
    summary,
    description,
    tags: [tag],
    security: [...securityBy[access], ...tokenSecurity(route)],
    parameters: [
      ...parametersOf("path", params, convert),
      ...parametersOf("query", query, convert),
    ],
    requestBody: hasBody ? bodyOf(body, consumes, convert) : undefined,
    responses: { ...answersOf(route, convert), ...problemsOf(route, convert) },
  };
}

function parametersOf(
  where: "path" | "query",
  schema: z.ZodType | undefined,
  convert: ToJsonSchema,
) {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = convert(schema, "input") as {
    readonly properties?: Readonly<Record<string, JsonSchema & { readonly description?: string }>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: required.includes(name),
    description,
    schema: rest,
  }));
}

function bodyOf(
  body: z.ZodType,
  types: readonly string[] = ["application/json"],
  convert: ToJsonSchema,
) {
  const schema = convert(body, "input");
  const content: Content = Object.fromEntries(types.map((type) => [type, { schema }]));
  return { required: !body.safeParse(null).success, content };
}

function answersOf(
  { response = {}, produces, events }: DescribedRoute,
  convert: ToJsonSchema,
): Record<string, Response> {
  if (produces !== undefined) {
    const schema = { type: "string" };
    const media: MediaType =
      events === undefined
        ? { schema }
        : { schema, "x-events": mapValues(events, (event) => convert(event, "output")) };
    return { 200: { description: "OK", content: { [produces]: media } } };
  }
  return mapValues(response, (schema, status) => {
    const description = STATUS_CODES[Number(status)] ?? "";
    if (schema instanceof z.ZodUndefined) return { description };
    return { description, content: { "application/json": { schema: convert(schema, "output") } } };
  });
}

function problemsOf(
  { problems = [], query, body, access }: DescribedRoute,
  convert: ToJsonSchema,
): Record<string, Response> {
  const parses = query !== undefined || body !== undefined;
  const statuses = [
    ...(parses ? [400] : []),
    ...(access === "open" ? [] : [401, 429]),
    ...(access === "open" ? [] : [403]),
    ...problems,
  ];
  const content = { "application/problem+json": { schema: convert(problemSchema, "output") } };
  return Object.fromEntries(
    statuses.map((status) => [status, { description: STATUS_CODES[status] ?? "", content }]),
  );
}

function mapValues<In, Out>(
  values: Readonly<Record<string, In>>,
  map: (value: In, name: string) => Out,
): Record<string, Out> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, map(value, name)]),
  );
}

/** The converter of one document. Schemas with an id are written once, into `components`. */
function toJsonSchemaWith(components: Record<string, JsonSchema>): ToJsonSchema {
  return (schema, io) => {
    // A schema with an id becomes a reference only inside another schema.
    const whole = z.toJSONSchema(z.object({ it: schema }), { io, override: simplify });
    const text = JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/');
    const { properties, $defs } = JSON.parse(text) as Converted;
    Object.assign(components, $defs);
    return properties?.it ?? {};
  };
}

interface Converted {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
}

/** Removes keywords that readers don't need, and `additionalProperties`, because a response may gain fields. */
function simplify({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  delete jsonSchema.additionalProperties;
  delete jsonSchema.readOnly;
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}
