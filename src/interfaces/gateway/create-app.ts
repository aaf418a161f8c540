import { fastify } from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { answerOtherMethods, collectRoutes, describedRoute } from "./api/described-routes.ts";
import { describeApi } from "./api/openapi.ts";
import type { OpenApi } from "./api/openapi.ts";
import { useZod } from "./api/zod-types.ts";
import { isPageVisit } from "./auth.ts";
import { errorPage } from "../dashboard/card-pages.ts";
import { sendPage } from "../dashboard/layout.ts";
import { noSchemaCompilers } from "../../foundation/contracts/no-schema-compilers.ts";
import { limitOpenRequests } from "../../foundation/contracts/request-limit.ts";
import { limitUnauthenticated } from "../../foundation/contracts/unauthenticated-connections.ts";
import type { GatewayDeps } from "./deps.ts";
import { limitBodies } from "./limit-bodies.ts";
import { answerClientError, HttpProblem, problemOf, sendProblem } from "./problem.ts";
import { createEventStreams } from "./sse.ts";
import type { EventStreams } from "./sse.ts";

/** The most bytes of a request other than a delivery: requests of people and programs are smaller. */
const maxRequestBytes = 1024 * 1024;
/** Bodies whose senders showed no key, together: room for a burst of small ones, and for two of the largest. */
const heldBytes = (maxBodyBytes: number): number => Math.max(32 * 1024 * 1024, 2 * maxBodyBytes);
/** Connections that showed no key; one more cuts off the oldest. Deliveries take one each, for milliseconds. */
const maxUnauthenticated = 1_000;
/** How long a request may take to arrive whole; Fastify itself waits for ever. */
const requestTimeoutMs = 30_000;
/** Its headers are cut off sooner, and soon after: Node would look for slow ones every half a minute only. */
const slowRequests = { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 };

/**
 * Only the address that the nearest proxy appended can be trusted; a client may have sent any before it, and so claim
 * an address of its own for each guess at the login.
 */
const isNearestProxy = (_address: string, hop: number): boolean => hop === 0;

/** An app with what both servers share, and no route yet. */
export function createApp(deps: GatewayDeps): {
  readonly app: FastifyInstance;
  readonly streams: EventStreams;
  /** Describes its routes, once all are there. */
  readonly describe: () => OpenApi;
  /** To be called when all routes are there. */
  readonly answerOthers: () => void;
} {
  const app = fastify({
    requestTimeout: requestTimeoutMs,
    http: { ...slowRequests, ...limitOpenRequests() },
    bodyLimit: Math.min(deps.maxBodyBytes, maxRequestBytes),
    trustProxy: deps.trustProxy && isNearestProxy,
    routerOptions: { ignoreTrailingSlash: true },
    clientErrorHandler: answerClientError,
    // Its own answer is no problem document; the hook below gives one.
    return503OnClosing: false,
    schemaController: noSchemaCompilers,
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
  });
  app.decorateRequest("caller", null);
  const unauthenticated = limitUnauthenticated(app.server, maxUnauthenticated);
  app.addHook("preHandler", (request, _reply, done) => {
    if (request.caller !== null) unauthenticated.markAuthenticated(request.raw.socket);
    done();
  });
  limitBodies(app, heldBytes(deps.maxBodyBytes), deps.log);
  parseJsonOnly(app);
  useZod(app);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, deps));
  app.setNotFoundHandler((request, reply) => {
    const detail = `There is nothing at ${request.url.split("?")[0] ?? ""}.`;
    return answerError(new HttpProblem(404, "not_found", detail), request, reply, deps);
  });
  const streams = createEventStreams(deps.streamLimits ?? {}, deps.log, (stream, change) =>
    deps.metrics.streamClients(stream, change),
  );
  let closing = false;
  app.addHook("onRequest", (_request, _reply, done) => done(closing ? closed() : undefined));
  // A hijacked answer would keep `close` waiting for ever.
  app.addHook("preClose", (done) => {
    closing = true;
    streams.endAll();
    done();
  });
  const routes = collectRoutes(app);
  // Read late: the hooks of inner scopes add to a route after it was collected.
  const describe = (): OpenApi =>
    describeApi(routes.flatMap(describedRoute), deps.operations.snapshot().scheduler.version);
  return { app, streams, describe, answerOthers: () => answerOtherMethods(app, routes) };
}

/** What comes in over a connection that was kept while the server closes. */
function closed(): HttpProblem {
  const headers = { "retry-after": "5" };
  return new HttpProblem(503, "draining", "The scheduler is stopping.", { headers });
}

/** Bodies are JSON; an empty one is none, whatever type the client declares. */
function parseJsonOnly(app: FastifyInstance): void {
  app.removeContentTypeParser(["text/plain", "application/json"]);
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else void parseJson(request, String(body), done);
  });
}

function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayDeps,
): FastifyReply {
  const problem = problemOf(error);
  if (problem.status === 500) {
    const cause = problem.cause instanceof Error ? problem.cause.stack : String(problem.cause);
    const route = request.routeOptions.url ?? "an unknown path";
    deps.log(50, `${request.method} ${route} failed: ${cause ?? "no reason given"}`);
  }
  // Only the server with pages has nonces for them.
  if (!isPageVisit(request) || !hasNonces(reply)) return sendProblem(reply, problem);
  const page = errorPage(problem);
  return sendPage(reply.headers(problem.headers), page, problem.status);
}

function hasNonces(reply: FastifyReply): boolean {
  return Boolean((reply as Partial<FastifyReply>).cspNonce);
}
