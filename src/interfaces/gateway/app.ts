import cookie from "@fastify/cookie";
import type { FastifyInstance } from "fastify";
import { operationRoutes } from "./api/operation-routes.ts";
import type { Route } from "./api/route.ts";
import { authenticate, authenticateKey } from "./auth.ts";
import { publicPath } from "../dashboard/text/base-path.ts";
import { compressAnswers, createApp } from "./create-app.ts";
import type { GatewayDeps } from "./deps.ts";
import { createKeyCheck } from "./key-guesses.ts";
import { checkHost } from "./known-hosts.ts";
import { answerFormRoutes, answerLinkRoutes } from "./routes/answers.ts";
import { artifactRoutes } from "./routes/artifacts.ts";
import { dashboardRoutes } from "./routes/dashboard.ts";
import { createLinkRoutes, loginRoutes, parseForms } from "./routes/login.ts";
import { memoryFileRoutes } from "./routes/memory.ts";
import { logDownloadRoutes, logRoutes } from "./routes/logs.ts";
import { mcpRoutes } from "./routes/mcp.ts";
import { runPages } from "./routes/runs.ts";
import { healthRoutes, metricsRoutes, openapiRoutes, statusRoutes } from "./routes/status.ts";
import { tokenFormRoutes, tokenPages } from "./routes/tokens.ts";
import { prepareWebhooks, webhookRoutes } from "./routes/webhooks.ts";
import type { EventStreams } from "./sse.ts";

/** The server on the operator's socket: the APIs, for programs with the key. */
export async function operatorApp(deps: GatewayDeps): Promise<FastifyInstance> {
  const { app, streams, serve, describe } = createApp(deps);
  const checkKey = createKeyCheck(deps);
  serve(app, "open", healthRoutes(deps));
  serve(app, "open", openapiRoutes(describe));
  await app.register((scope, _options, done) => {
    scope.addHook("onRequest", authenticate(deps, checkKey, false));
    serve(scope, "key", apiRoutes(deps, streams));
    serve(scope, "key", createLinkRoutes(deps));
    serve(scope, "key", metricsRoutes(deps));
    done();
  });
  return app;
}

/** The server on TCP: the APIs for programs and browsers, the pages, and the webhooks for all senders. */
export async function tcpApp(deps: GatewayDeps): Promise<FastifyInstance> {
  const { app, streams, serve, describe } = createApp(deps);
  app.addHook("onSend", (_request, reply, _payload, done) => {
    const location = reply.getHeader("location");
    if (typeof location === "string") reply.header("location", publicPath(location));
    done();
  });
  const checkKey = createKeyCheck(deps);
  const toOperators = authenticate(deps, checkKey, true);
  serve(app, "open", healthRoutes(deps));
  await app.register((scope, _options, done) => {
    prepareWebhooks(scope);
    serve(scope, "open", webhookRoutes(deps));
    done();
  });
  await app.register(async (known) => {
    await known.register(cookie);
    const names = [deps.host, ...deps.allowedHosts, deps.sessions.privateHost];
    known.addHook("onRequest", checkHost(names));
    // These routes have separate scopes: no other route may use the form parser.
    void known.register((scope, _scopeOptions, scopeDone) => {
      parseForms(scope);
      serve(scope, "open", [...loginRoutes(deps, checkKey), ...answerLinkRoutes(deps)]);
      scopeDone();
    });
    void known.register((scope, _scopeOptions, scopeDone) => {
      parseForms(scope);
      scope.addHook("onRequest", toOperators);
      if (deps.dashboard)
        serve(scope, "operator", [...answerFormRoutes(deps), ...tokenFormRoutes(deps)]);
      scopeDone();
    });
    void known.register((scope, _scopeOptions, scopeDone) => {
      scope.addHook("onRequest", toOperators);
      compressAnswers(scope);
      serve(scope, "operator", apiRoutes(deps, streams));
      if (deps.dashboard) serve(scope, "operator", pageRoutes(deps));
      scopeDone();
    });
    void known.register((scope, _scopeOptions, scopeDone) => {
      scope.addHook("onRequest", authenticateKey(deps, checkKey));
      serve(scope, "key", mcpRoutes(app));
      compressAnswers(scope);
      serve(scope, "key", metricsRoutes(deps));
      scopeDone();
    });
    void known.register((scope, _scopeOptions, scopeDone) => {
      // With the dashboard, the API's description is one of its pages.
      if (deps.dashboard) scope.addHook("onRequest", toOperators);
      compressAnswers(scope);
      serve(scope, deps.dashboard ? "operator" : "open", openapiRoutes(describe));
      scopeDone();
    });
  });
  return app;
}

/** All routes that need authentication and are not pages. */
const apiRoutes = (deps: GatewayDeps, streams: EventStreams): Route[] => [
  ...operationRoutes("Control", deps),
  ...statusRoutes(deps, streams),
  ...operationRoutes("History", deps),
  ...logRoutes(deps, streams),
  ...operationRoutes("Logs", deps),
  ...operationRoutes("Artifacts", deps),
  ...artifactRoutes(deps),
  ...operationRoutes("Webhooks", deps),
  ...operationRoutes("Spending", deps),
  ...operationRoutes("Network", deps),
  ...operationRoutes("Files", deps),
  ...operationRoutes("Memory", deps),
  ...memoryFileRoutes(deps),
  ...operationRoutes("Alerts", deps),
  ...operationRoutes("Questions", deps),
  ...operationRoutes("Sessions", deps),
  ...operationRoutes("Audit", deps),
  ...operationRoutes("Tokens", deps),
];

const pageRoutes = (deps: GatewayDeps): Route[] => [
  ...dashboardRoutes(deps),
  ...logDownloadRoutes(deps),
  ...runPages(deps),
  ...tokenPages(deps),
];
