import type { FastifyInstance } from "fastify";
import { spendAnswerSchema, spendQuerySchema } from "../../contracts/spend-report.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";

/** What calls to models cost, what may be spent, and what a month will cost. */
export function spendRoutes(app: FastifyInstance, { operations }: GatewayDeps): void {
  const schema = {
    tag: "Spending",
    summary: "What runs spent on models, the limits, and a forecast",
    description:
      "`rows` add up the calls by agent, model or day: the largest first, days in their order. `limits` are those of " +
      "today and of this month. The forecast is of 30 days: what the schedules of enabled agents will cost by their last runs.",
    querystring: spendQuerySchema,
    response: { 200: spendAnswerSchema },
    problems: [503],
  };
  withZod(app).get("/api/spend", { schema }, (request) => operations.spend(request.query));
}
