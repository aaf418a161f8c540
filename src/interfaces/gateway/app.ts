import cookie from "@fastify/cookie";
import helmet from "@fastify/helmet";
import type { FastifyHelmetOptions } from "@fastify/helmet";
import type { FastifyInstance } from "fastify";
import { describeAccess } from "./api/described-routes.ts";
import { authenticate, authenticateKey } from "./auth.ts";
import { createApp } from "./create-app.ts";
import type { GatewayDeps } from "./deps.ts";
import { createKeyCheck } from "./key-guesses.ts";
import { checkHost } from "./known-hosts.ts";
import { alertRoutes } from "./routes/alerts.ts";
import { controlRoutes } from "./routes/control.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { docsRoute, openapiRoute } from "./routes/docs.ts";
import { historyRoutes } from "./routes/history.ts";
import { hostRoutes } from "./routes/hosts.ts";
import { createLoginLinkRoute, loginLinkRoute } from "./routes/login-link.ts";
import { loginRoutes } from "./routes/login.ts";
import { logDownloadRoutes } from "./routes/log-download.ts";
import { logPageRoutes } from "./routes/log-pages.ts";
import { logRoutes } from "./routes/logs.ts";
import { receiptRoutes } from "./routes/receipts.ts";
import { runPages, runRoutes } from "./routes/runs.ts";
import { searchRoute } from "./routes/search.ts";
import { spendRoutes } from "./routes/spend.ts";
import { healthRoutes, metricsRoutes, statusRoutes } from "./routes/status.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import type { EventStreams } from "./sse.ts";

/**
 * What pages may do: run and style only what carries this answer's nonce, talk only to this gateway, and not
 * be framed. No rule makes a browser insist on TLS, because the gateway is served without it as well.
 */
const securityHeaders: FastifyHelmetOptions = {
  enableCSPNonces: true,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: [],
      styleSrc: [],
      imgSrc: ["'self'", "data:"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  // Same-origin and not none, because without it a form's `Origin` would be `null`.
  referrerPolicy: { policy: "same-origin" },
  strictTransportSecurity: false,
  originAgentCluster: false,
  crossOriginOpenerPolicy: false,
};

/** The server on the operator's socket: the APIs, for programs with the key. */
export async function operatorApp(deps: GatewayDeps): Promise<FastifyInstance> {
  const { app, streams, describe, answerOthers } = createApp(deps);
  const checkKey = createKeyCheck(deps);
  healthRoutes(app, deps);
  openapiRoute(app, describe);
  await app.register((scope, _options, done) => {
    scope.addHook("onRequest", authenticate(deps, checkKey, false));
    describeAccess(scope, "key");
    apiRoutes(scope, deps, streams);
    createLoginLinkRoute(scope, deps);
    metricsRoutes(scope, deps);
    done();
  });
  answerOthers();
  return app;
}

/** The server on TCP: the APIs for programs and browsers, the pages, and the webhooks for all senders. */
export async function tcpApp(deps: GatewayDeps): Promise<FastifyInstance> {
  const { app, streams, describe, answerOthers } = createApp(deps);
  const checkKey = createKeyCheck(deps);
  await app.register(helmet, securityHeaders);
  await app.register(cookie);
  healthRoutes(app, deps);
  await app.register((scope, _options, done) => {
    webhookRoutes(scope, deps);
    done();
  });
  await app.register((operator, _options, done) => {
    operator.addHook(
      "onRequest",
      checkHost([deps.host, ...deps.allowedHosts, deps.sessions.privateHost]),
    );
    // A scope of its own: no other route may use the login's form parser.
    void operator.register((scope, _scopeOptions, scopeDone) => {
      loginRoutes(scope, deps, checkKey);
      if (deps.dashboard) loginLinkRoute(scope, deps);
      scopeDone();
    });
    void operator.register((scope, _scopeOptions, scopeDone) => {
      scope.addHook("onRequest", authenticate(deps, checkKey, true));
      describeAccess(scope, "operator");
      apiRoutes(scope, deps, streams);
      if (deps.dashboard) {
        dashboardRoutes(scope, deps);
        logDownloadRoutes(scope, deps);
        runPages(scope, deps);
      }
      scopeDone();
    });
    void operator.register((scope, _scopeOptions, scopeDone) => {
      scope.addHook("onRequest", authenticateKey(deps, checkKey));
      describeAccess(scope, "key");
      metricsRoutes(scope, deps);
      scopeDone();
    });
    void operator.register((scope, _scopeOptions, scopeDone) => {
      // Where there are pages, this is one of them.
      if (deps.dashboard) scope.addHook("onRequest", authenticate(deps, checkKey, true));
      describeAccess(scope, deps.dashboard ? "operator" : "open");
      openapiRoute(scope, describe);
      docsRoute(scope, describe);
      scopeDone();
    });
    done();
  });
  answerOthers();
  return app;
}

/** All that needs authentication and is not a page. */
function apiRoutes(scope: FastifyInstance, deps: GatewayDeps, streams: EventStreams): void {
  controlRoutes(scope, deps);
  statusRoutes(scope, deps, streams);
  historyRoutes(scope, deps);
  runRoutes(scope, deps);
  logRoutes(scope, deps, streams);
  logPageRoutes(scope, deps);
  searchRoute(scope, deps);
  receiptRoutes(scope, deps);
  spendRoutes(scope, deps);
  hostRoutes(scope, deps);
  alertRoutes(scope, deps);
}
