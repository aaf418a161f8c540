import type { FastifyInstance, FastifySchema, HTTPMethods, RouteOptions } from "fastify";
import { HttpProblem } from "../problem.ts";

/** Who may use a route: anyone, programs with the key, or also a browser's session. */
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

/** Collects every route that is added from now on. */
export function collectRoutes(app: FastifyInstance): readonly RouteOptions[] {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => void routes.push(route));
  return routes;
}

const allMethods: readonly HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** For OPTIONS, lists the methods of a path; any other method is a 405 instead of a 404. Called after all routes. */
export function answerOtherMethods(app: FastifyInstance, routes: readonly RouteOptions[]): void {
  for (const [url, own] of Map.groupBy(routes, (route) => route.url)) {
    const methods = new Set<string>(own.flatMap(({ method }) => method));
    const allow = [...methods, "OPTIONS"].join(", ");
    app.options(url, (_request, reply) => reply.code(204).header("allow", allow).send());
    app.route({
      method: allMethods.filter((method) => !methods.has(method)),
      url,
      exposeHeadRoute: false,
      handler: (request) => {
        const detail = `Method ${request.method} not allowed; use ${allow}.`;
        throw new HttpProblem(405, "method_not_allowed", detail, { headers: { allow } });
      },
    });
  }
}

/** Describes who may use the routes of a scope. */
export function describeAccess(scope: FastifyInstance, access: Access): void {
  scope.addHook("onRoute", (route) => {
    route.config = { ...route.config, access };
  });
}

/** A route as it is described; those that only answer wrong methods have no schema and are left out. */
export function describedRoute({ method, url, config, schema }: RouteOptions): DescribedRoute[] {
  if (schema === undefined) return [];
  const methods = [method].flat().filter((one) => one !== "HEAD" && one !== "OPTIONS");
  const access = config?.access ?? "open";
  return methods.map((one) => ({ method: one, url, access, schema }));
}
