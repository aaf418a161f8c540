import type { FastifyInstance, FastifySchema, RouteOptions } from "fastify";

/** Who may use a route: everybody, programs with the key, or also a browser's session. */
export type Access = "open" | "key" | "operator";

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
}

/** A route as its description needs it. */
export interface DescribedRoute {
  readonly method: string;
  /** Fastify's path, with `:name` for parameters. */
  readonly url: string;
  readonly access: Access;
  readonly schema: FastifySchema;
}

/** Collects every route from now on; those that only answer wrong methods have no schema and are left out. */
export function collectRoutes(app: FastifyInstance): () => readonly DescribedRoute[] {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => void routes.push(route));
  // Read late: the hooks of inner scopes say more about a route after this one has seen it.
  return () => routes.flatMap(described);
}

/** Says who may use the routes of a scope. */
export function describeAccess(scope: FastifyInstance, access: Access): void {
  scope.addHook("onRoute", (route) => {
    route.config = { ...route.config, access };
  });
}

function described({ method, url, config, schema }: RouteOptions): DescribedRoute[] {
  if (schema === undefined) return [];
  const methods = [method].flat().filter((one) => one !== "HEAD" && one !== "OPTIONS");
  const access = config?.access ?? "open";
  return methods.map((one) => ({ method: one, url, access, schema }));
}
