import type { FastifyInstance } from "fastify";
import { searchPageSchema, searchQuerySchema } from "../../../foundation/contracts/search.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";

/** The search over the logs of all agents. */
export function searchRoute(app: FastifyInstance, { search }: GatewayDeps): void {
  const schema = {
    tag: "Logs",
    summary: "Search the logs of all agents",
    description:
      "Runs with lines that match, each with the first of them and their neighbours. What has no letters or digits is " +
      "not searched for.",
    querystring: searchQuerySchema,
    response: { 200: searchPageSchema },
    problems: [400, 503],
  };
  withZod(app).get("/api/search", { schema }, (request) => search.find(request.query));
}
