import {
  budgetParams,
  raisedSchema,
  raiseSchema,
  spendAnswerSchema,
  spendQuerySchema,
} from "../../../features/spend/spend-report.ts";
import { nanoOfUsd, usdText } from "../../../foundation/contracts/money.ts";
import { agentOf } from "../../../foundation/logs/log-reader.ts";
import { limitOf } from "../token-limits.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";

const { get, post } = routesOf("Spending");

/** The costs of model calls, the limits, and a forecast of a month. */
export const spendRoutes = ({ operations }: GatewayDeps) => [
  get("/api/spend", {
    summary: "What runs spent on models, the limits, and a forecast",
    description:
      "`rows` add up the calls by agent, model or day: the largest first, days in their order. `limits` are those of " +
      "today and of this month. The forecast is of 30 days: what the schedules of enabled agents will cost by their last runs.",
    query: spendQuerySchema,
    response: { 200: spendAnswerSchema },
    problems: [503],
    handle: (request) => {
      const answer = operations.spend(request.query);
      const scope = `agent:${request.query.agent}`;
      const isShown = limitOf(request) === null ? () => true : isLimitOf(scope);
      return { ...answer, limits: answer.limits.filter(isShown) };
    },
  }),
  post("/api/budgets/:scope/raise", {
    summary: "Raise the limits of a budget",
    description:
      "Adds to the limits of the project, of an agent and its live runs, or of one run, until their windows turn. " +
      "Runs that wait for money continue. The answer has the limits of the scope's day and month.",
    params: budgetParams,
    scope: "control",
    isAbout: ({ params }, isMine) => {
      const [kind, id = ""] = params.scope.split(":");
      return isMine(kind === "run" ? agentOf(id) : kind === "agent" ? id : null);
    },
    body: raiseSchema,
    response: { 200: raisedSchema },
    audit: ({ params: { scope }, body }) => {
      const [kind, id = ""] = scope.split(":");
      const about = kind === "run" ? { agent: agentOf(id), instanceId: id } : { agent: id || null };
      return { act: "raise", ...about, detail: `${scope} by ${usdText(nanoOfUsd(body.usd))}` };
    },
    problems: [404, 503],
    handle: async ({ params: { scope }, body }) => {
      const limits = await operations.raiseBudget(scope, body.usd);
      return { success: true as const, scope, limits };
    },
  }),
];

/** Whether a limit is that of one agent. */
const isLimitOf =
  (agent: string) =>
  ({ scope }: { readonly scope: string }): boolean =>
    scope === agent;
