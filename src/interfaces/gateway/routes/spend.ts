import type { FastifyInstance } from "fastify";
import {
  budgetParams,
  raisedSchema,
  raiseSchema,
  spendAnswerSchema,
  spendQuerySchema,
} from "../../../foundation/contracts/spend-report.ts";
import { withZod } from "../api/zod-types.ts";
import type { GatewayDeps } from "../deps.ts";

/** What calls to models cost, what may be spent, and what a month will cost. */
export function spendRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  reportRoute(app, deps);
  raiseRoute(app, deps);
}

function raiseRoute(app: FastifyInstance, { operations }: GatewayDeps): void {
  const schema = {
    tag: "Spending",
    summary: "Raise the limits of a budget",
    description:
      "Adds to the limits of the project, of an agent and its live runs, or of one run, until their windows turn. " +
      "Runs that wait for money go on. The answer has the limits of the scope's day and month.",
    params: budgetParams,
    body: raiseSchema,
    response: { 200: raisedSchema },
    problems: [404, 503],
  };
  withZod(app).post("/api/budgets/:scope/raise", { schema }, async (request) => {
    const { scope } = request.params;
    const limits = await operations.raiseBudget(scope, request.body.usd);
    return { success: true as const, scope, limits };
  });
}

function reportRoute(app: FastifyInstance, { operations }: GatewayDeps): void {
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
