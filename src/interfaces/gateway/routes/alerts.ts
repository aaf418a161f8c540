import type { FastifyInstance } from "fastify";
import {
  allRetriedSchema,
  alertsQuerySchema,
  alertsReportSchema,
  deliveryParams,
  retriedSchema,
  targetParams,
  testedSchema,
} from "../../../foundation/contracts/alerts-report.ts";
import { emptyBody } from "../api/bodies.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";

const tag = "Alerts";

/** Alerts on their way to their targets, and what a person can do when they don't arrive. */
export function alertRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  reportRoute(app, deps);
  retryRoute(app, deps);
  retryAllRoute(app, deps);
  testRoute(app, deps);
}

function reportRoute(app: FastifyInstance, { operations }: GatewayDeps): void {
  const schema = {
    tag,
    summary: "The targets of alerts, what is wrong now, and the deliveries",
    description:
      "`deliveries` has an entry for each alert and target, newest first; `before` takes the `next` of an earlier page.",
    querystring: alertsQuerySchema,
    response: { 200: alertsReportSchema },
    problems: [503],
  };
  withZod(app).get("/api/alerts", { schema }, (request) => operations.alerts(request.query));
}

function retryRoute(app: FastifyInstance, { operations }: GatewayDeps): void {
  const schema = {
    tag,
    summary: "Send an alert again that was given up, or now one that waits",
    description:
      "It keeps its id, so that a receiver that has it can drop it. What was given up is attempted as often as a new one.",
    params: deliveryParams,
    body: emptyBody,
    response: { 202: retriedSchema },
    problems: [404, 503],
  };
  withZod(app).post("/api/alerts/:id/retry", { schema }, async (request, reply) => {
    const { id } = request.params;
    await operations.retryAlert(id);
    return reply.code(202).send({ success: true as const, id });
  });
}

function retryAllRoute(app: FastifyInstance, { operations }: GatewayDeps): void {
  const schema = {
    tag,
    summary: "Send all alerts again that were given up",
    body: emptyBody,
    response: { 202: allRetriedSchema },
    problems: [503],
  };
  withZod(app).post("/api/alerts/retry", { schema }, async (_request, reply) => {
    const retried = await operations.retryDeadAlerts();
    return reply.code(202).send({ success: true as const, retried });
  });
}

function testRoute(app: FastifyInstance, { operations }: GatewayDeps): void {
  const schema = {
    tag,
    summary: "Send a test to a target, now",
    description:
      "The answer is the target's own: it comes within 15 s. A target that was off is on again once it accepts a test.",
    params: targetParams,
    body: emptyBody,
    response: { 200: testedSchema },
    problems: [404, 503],
  };
  withZod(app).post("/api/alerts/targets/:name/test", { schema }, (request) =>
    operations.testAlertTarget(request.params.name),
  );
}
