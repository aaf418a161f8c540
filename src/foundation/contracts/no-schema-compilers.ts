import type { FastifyServerOptions } from "fastify";

/**
 * Keeps Fastify from loading its own compilers of schemas, which would be a fifth of what a start loads: routes have zod's
 * schemas, or none.
 */
export const noSchemaCompilers: NonNullable<FastifyServerOptions["schemaController"]> = {
  compilersFactory: { buildValidator: () => fail, buildSerializer: () => fail },
};

function fail(): never {
  throw new Error("a route has a schema, and its app has nothing that reads it");
}
