import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteOptions,
} from "fastify";
import type { z } from "zod";
import type { Act } from "../../../foundation/contracts/audit-acts.ts";
import { Problem } from "../../../foundation/errors.ts";
import type { Scope } from "../../../foundation/contracts/scopes.ts";
import { schemaProblems } from "../../../runtime/wire/requests/row.ts";

import type { IsMine } from "../../../foundation/operation.ts";
import { assertAgents, assertScope } from "../token-limits.ts";

/** Who may use a route: anyone, programs with the key or a token, or also a browser's session. */
export type Access = "open" | "key" | "operator";

/** A request with the parts that its route's schemas parsed. */
type Parsed<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> = FastifyRequest<{
  Params: z.output<Params>;
  Querystring: z.output<Query>;
  Body: z.output<Body>;
}>;

/** One route: requests are parsed and `/openapi.json` is made by the same row. */
interface RouteSpec<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> {
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Schemas of the answer by status; `handle` answers with the lowest status unless it sets another. */
  readonly response?: Readonly<Record<string, Answer>>;
  /** Statuses of the problems that the route may return, beyond those of every route. */
  readonly problems?: readonly number[];
  /** Media types of the body; by default JSON. */
  readonly consumes?: readonly string[];
  /** Media type of the answer; by default JSON. */
  readonly produces?: string;
  /** Schemas of a stream's events, by the events' names. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
  readonly config?: FastifyContextConfig;
  readonly options?: Pick<RouteOptions, "bodyLimit" | "exposeHeadRoute">;
  /**
   * The scope that an API token needs, or `any` of them; null: only the key and logins. Default: `read` for a GET that is
   * not a page, else null.
   */
  readonly scope?: Scope | "any" | null;
  /**
   * Whether a request of a token that is limited to agents is about one of them only; by default by `:name`,
   * `:instanceId` and `?agent=`.
   */
  isAbout?(request: Parsed<Params, Query, Body>, isMine: IsMine): boolean;
  /** The act of a request that succeeded; null without one, such as for a dry run. */
  audit?(request: Parsed<Params, Query, Body>, answer: z.input<Answer>): Act | null;
  /** Returns the answer, or sends it by `reply`. */
  handle(
    request: Parsed<Params, Query, Body>,
    reply: FastifyReply,
  ): z.input<Answer> | FastifyReply | Promise<z.input<Answer> | FastifyReply>;
}

export interface Route extends RouteSpec<z.ZodType, z.ZodType, z.ZodType, z.ZodType> {
  readonly method: "GET" | "POST";
  /** With `:name` for parameters; a last `*` is the parameter `path`, which may have slashes. */
  readonly url: string;
  /** Heading that the route is described under. */
  readonly tag: string;
}

/** A route with the facts for its description. */
export interface DescribedRoute extends Route {
  readonly access: Access;
}

/** Makes the routes under one heading. */
export function routesOf(tag: string) {
  const routeBy =
    (method: Route["method"]) =>
    <
      Params extends z.ZodType = z.ZodType,
      Query extends z.ZodType = z.ZodType,
      Body extends z.ZodType = z.ZodType,
      Answer extends z.ZodType = z.ZodType,
    >(
      url: string,
      spec: RouteSpec<Params, Query, Body, Answer>,
    ): Route => ({ ...spec, method, url, tag });
  return { get: routeBy("GET"), post: routeBy("POST") };
}

/** Adds routes to a scope; a request is parsed after the scope's own checks. `onAct` is called after the request succeeded. */
export function addRoutes(
  scope: FastifyInstance,
  routes: readonly Route[],
  onAct: (act: Act, request: FastifyRequest) => void,
  limitAnswer: (answer: unknown, request: FastifyRequest) => unknown,
): void {
  for (const route of routes) {
    const { method, url, config = {}, options, response = {} } = route;
    const [status] = Object.keys(response).map(Number);
    scope.route({
      method,
      url,
      config,
      ...options,
      handler: (request, reply) => {
        assertScope(request, route);
        parseRequest(request, route);
        assertAgents(request, route);
        if (status !== undefined) void reply.code(status);
        const answer = handle(route, request, reply, onAct);
        return request.caller?.kind === "token"
          ? Promise.resolve(answer).then((whole) => limitAnswer(whole, request))
          : answer;
      },
    });
  }
}

function handle(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  onAct: (act: Act, request: FastifyRequest) => void,
): unknown {
  if (route.audit === undefined) return route.handle(request, reply);
  return Promise.resolve(route.handle(request, reply)).then((answer) => {
    const act = reply.statusCode >= 400 ? null : route.audit?.(request, answer);
    if (act) onAct(act, request);
    return answer;
  });
}

function parseRequest(request: FastifyRequest, { params, body, query }: Route): void {
  const { "*": path, ...named } = request.params as Readonly<Record<string, string>>;
  const inPath = path === undefined ? named : { ...named, path };
  if (params !== undefined) request.params = parsed(params, inPath, "path");
  if (body !== undefined) request.body = parsed(body, request.body ?? null, "body");
  if (query !== undefined) request.query = parsed(query, request.query, "query");
}

/** The 400 names each wrong field. */
function parsed(schema: z.ZodType, value: unknown, part: string): unknown {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new Problem("malformed", `The ${part} is malformed: ${schemaProblems(error)}.`);
}

/**
 * Answers a request without a route: OPTIONS lists the methods of its path, and any other method is a 405 if the path
 * exists. Routes for these methods would be three quarters of all, and each is compiled at the start.
 */
export function answerUnrouted(
  { url, method }: FastifyRequest,
  reply: FastifyReply,
  routes: readonly Route[],
): FastifyReply {
  const [path = ""] = url.split("?");
  const methods = methodsAt(decodeURI(path), routes);
  if (methods.size === 0) throw new Problem("not_found", `There is nothing at ${path}.`);
  const allow = [...methods, "OPTIONS"].join(", ");
  if (method === "OPTIONS") return reply.code(204).header("allow", allow).send();
  throw new Problem("method_not_allowed", `Method ${method} not allowed; use ${allow}.`, {
    headers: { allow },
  });
}

/** The methods of the routes at a path; a trailing slash is ignored, as by Fastify. */
function methodsAt(path: string, routes: readonly Route[]): ReadonlySet<string> {
  const parts = path.replace(/(?<=.)\/$/, "").split("/");
  const isAt = (url: string): boolean => {
    const pattern = url.split("/");
    const hasRest = pattern.at(-1) === "*";
    const given = hasRest ? parts.slice(0, pattern.length) : parts;
    const matches = (part: string, at: number): boolean =>
      /^[:*]/.test(pattern[at] ?? "") ? part !== "" : part === pattern[at];
    return pattern.length === given.length && given.every(matches);
  };
  const methods = routes
    .filter(({ url }) => isAt(url))
    .map(({ method, options }) =>
      method === "GET" && options?.exposeHeadRoute !== false ? ["GET", "HEAD"] : [method],
    );
  return new Set(methods.flat());
}
