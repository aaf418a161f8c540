import type { FastifyInstance } from "fastify";
import type { GatewayDeps } from "../deps.ts";

/** The numbers for Prometheus, for whoever has the key. */
export function metricsRoutes(app: FastifyInstance, { metrics }: GatewayDeps): void {
  const schema = {
    tag: "Status",
    summary: "Metrics in Prometheus' text format",
    produces: "text/plain",
  };
  app.get("/metrics", { schema }, async (_request, reply) =>
    reply.type(metrics.contentType).send(await metrics.text()),
  );
}
