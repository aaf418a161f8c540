import { Problem } from "../../foundation/errors.ts";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { describeApi } from "./api/openapi.ts";
import { addRoutes, answerUnrouted } from "./api/route.ts";
import type { Access, DescribedRoute, Route } from "./api/route.ts";
import { isPageVisit, personOf } from "./auth.ts";
import { errorPage } from "../dashboard/card-pages.tsx";
import { localPath } from "../dashboard/text/base-path.ts";
import { basePathOf } from "./request-base.ts";
import { sendPage } from "../dashboard/send-page.tsx";
import {
  limitOpenRequests,
  noSchemaCompilers,
  limitUnauthenticated,
} from "../../foundation/contracts/request-limit.ts";
import { inTurn } from "../../foundation/contracts/in-turn.ts";
import type { GatewayDeps } from "./deps.ts";
import { limitBodies } from "./limit-bodies.ts";
import { sendProblem } from "../../foundation/send-problem.ts";
import { answerClientError, problemOf } from "./problem.ts";
import { createEventStreams } from "./sse.ts";
import { limitOf, onlyMine } from "./token-limits.ts";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Size limit of a request other than a delivery, in bytes: requests of people and programs are smaller. */
const maxRequestBytes = 1024 * 1024;
/** An answer link has the name of an alert target in its token. */
const maxParamCharacters = 500;
/** Limit of all bodies whose senders showed no key: room for a burst of small ones, and for two of the largest. */
const heldBytes = (maxBodyBytes: number): number => Math.max(32 * 1024 * 1024, 2 * maxBodyBytes);
/** Limit of connections that showed no key; one more disconnects the oldest. Deliveries use one each, for milliseconds. */
const maxUnauthenticated = 1_000;
/** How long a request may take to arrive completely; Fastify's default is unlimited. */
const requestTimeoutMs = 30_000;
/** Headers have a shorter time limit, which is checked often: Node's default checks only every half a minute. */
const slowRequests = { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 };

/**
 * Headers of every answer, created once; a page adds the policy for its script. Browsers are not told to insist on TLS,
 * because the gateway is also served without it.
 */
const securityHeaders = {
  "content-security-policy": "default-src 'none';frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  // same-origin instead of none, because a form's `Origin` would otherwise be `null`.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

/**
 * Only the address appended by the nearest proxy can be trusted; a client may have sent any before it, and so claim a
 * new address for each guess at the login.
 */
const isNearestProxy = (_address: string, hop: number): boolean => hop === 0;

/** Creates an app with the settings and hooks of both servers, without routes. */
export function createApp(deps: GatewayDeps) {
  const withBasePath = basePathOf(deps.publicUrl);
  const app = fastify({
    requestTimeout: requestTimeoutMs,
    http: { ...slowRequests, ...limitOpenRequests() },
    bodyLimit: Math.min(deps.maxBodyBytes, maxRequestBytes),
    trustProxy: deps.trustProxy && isNearestProxy,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: maxParamCharacters },
    rewriteUrl: ({ url = "/" }) => withBasePath(() => localPath(url)),
    clientErrorHandler: answerClientError,
    // Fastify's own 503 is not a problem document; the hook below sends one.
    return503OnClosing: false,
    schemaController: noSchemaCompilers,
    frameworkErrors: (error, _request, reply) => void sendProblem(reply, problemOf(error)),
  });
  app.addHook("onRequest", (_request, _reply, done) => withBasePath(done));
  app.decorateRequest("caller", null);
  const unauthenticated = limitUnauthenticated(app.server, maxUnauthenticated);
  app.addHook("preHandler", (request, _reply, done) => {
    if (request.caller !== null) unauthenticated.markAuthenticated(request.raw.socket);
    done();
  });
  limitBodies(app, heldBytes(deps.maxBodyBytes), deps.log);
  parseJsonOnly(app);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, deps));
  const served: DescribedRoute[] = [];
  app.setNotFoundHandler((request, reply) => answerUnrouted(request, reply, served));
  const streams = createEventStreams(deps.streamLimits ?? {}, deps.log, (stream, change) =>
    deps.metrics.streamClients(stream, change),
  );
  let closing = false;
  app.addHook("onRequest", (_request, reply, done) => {
    reply.headers(securityHeaders);
    done(closing ? closed() : undefined);
  });
  // A hijacked answer would block `close` for ever.
  app.addHook("preClose", (done) => {
    closing = true;
    streams.endAll();
    done();
  });
  const isKnown = (agent: string | null | undefined): boolean =>
    typeof agent === "string" && deps.context.status.agent(agent) !== undefined;
  const limitAnswer = (answer: unknown, request: FastifyRequest): unknown => {
    const isMine = limitOf(request);
    return isMine === null || isReply(answer) ? answer : onlyMine(answer, isMine, isKnown);
  };
  return {
    app,
    streams,
    /** Adds routes to a scope. The scope's hooks check the access, which is only described here. */
    serve: (scope: FastifyInstance, access: Access, routes: readonly Route[]): void => {
      addRoutes(
        scope,
        routes,
        (act, request) => {
          deps.context.audit.recordAct(act, personOf(request));
        },
        limitAnswer,
      );
      served.push(...routes.map((route) => ({ ...route, access })));
    },
    /** Describes the routes that were served so far. */
    describe: () => describeApi(served, deps.context.status.snapshot().scheduler.version),
  };
}

/** Whether a route has sent its answer by itself; such a route limits it by itself. */
function isReply(answer: unknown): boolean {
  return typeof answer === "object" && answer !== null && "raw" in answer && "sent" in answer;
}

/** The response to requests on kept-alive connections while the server closes. */
function closed(): Problem {
  return new Problem("draining", "The scheduler is stopping.");
}

/** Parses bodies as JSON only. An empty body counts as missing, even if the client declares a type. */
function parseJsonOnly(app: FastifyInstance): void {
  app.removeContentTypeParser(["text/plain", "application/json"]);
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else void inTurn(request.ip, () => parseJson(request, String(body), done));
  });
}

function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: GatewayDeps,
): FastifyReply | Promise<FastifyReply> {
  const problem = problemOf(error);
  if (problem.status === 500) {
    const cause = problem.cause instanceof Error ? problem.cause.stack : String(problem.cause);
    const route = request.routeOptions.url ?? "an unknown path";
    deps.log(50, `${request.method} ${route} failed: ${cause ?? "no reason given"}`);
  }
  if (!isPageVisit(request)) return sendProblem(reply, problem);
  const page = errorPage(problem);
  return sendPage(reply.headers(problem.headers), page, problem.status);
}

/** A page is 7 % smaller than with gzip, in the same time; its window is that of gzip times eight. */
const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 18 };
const withBrotli = (text: string) => promisify(brotliCompress)(text, { params: brotliParams });
const withGzip = promisify(gzip);
declare module "fastify" {
  interface FastifyContextConfig {
    /** The answer holds a token. */
    isSecret?: boolean;
  }
}

/** Shorter texts fit into one packet uncompressed. */
const smallChars = 1_024;
/** Browsers name `br` only where no old proxy could change the answer: over TLS, and for this machine. */
const takesBrotli = /(^|,)\s*br\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[\d.]+\s*)?(,|$)/i;
/** `gzip` or `*`, not refused by `q=0`. */
const takesGzip = /(^|,)\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[\d.]+\s*)?(,|$)/i;

/**
 * Compresses the texts that a scope's routes respond with, except event streams, which take over the connection. Not for
 * answers with a token or a key: the size of an answer that also repeats a stranger's text would reveal it (BREACH).
 */
export function compressAnswers(scope: FastifyInstance): void {
  scope.addHook("onSend", async (request, reply, payload) => {
    if (typeof payload !== "string" || payload.length < smallChars) return payload;
    if (request.routeOptions.config.isSecret === true) return payload;
    reply.header("vary", "accept-encoding");
    const { "accept-encoding": accepted = "" } = request.headers;
    const encoding = takesBrotli.test(accepted) ? "br" : takesGzip.test(accepted) ? "gzip" : null;
    if (encoding === null) return payload;
    reply.header("content-encoding", encoding);
    return encoding === "br" ? withBrotli(payload) : withGzip(payload);
  });
}
