import { nanoOfUsd, usdText } from "../../foundation/contracts/money.ts";
import { agentOf } from "../../foundation/logs/log-reader.ts";
import { operationsOf } from "../../foundation/operation.ts";
import {
  budgetParams,
  raisedSchema,
  raiseSchema,
  spendAnswerSchema,
  spendQuerySchema,
} from "./spend-report.ts";
import type { SpendAnswer, SpendLimit, SpendRequest } from "./spend-report.ts";

export interface SpendContext {
  readonly spend: {
    readonly answer: (request: SpendRequest) => SpendAnswer | Promise<SpendAnswer>;
    /** Adds US dollars to the limits of a scope; resolves with those of its day and month. */
    readonly raise: (scope: string, usd: number) => Promise<readonly SpendLimit[]>;
  };
}

export const showSpend = operationsOf<{
  readonly spend: Pick<SpendContext["spend"], "answer">;
}>("Spending").read("/api/spend", {
  summary: "What runs spent on models, the limits, and a forecast",
  description:
    "`rows` add up the calls by agent, model or day: the largest first, days in their order. `limits` are those of " +
    "today and of this month. The forecast covers 30 days: what the schedules of enabled agents will cost, based on their last runs.",
  input: spendQuerySchema,
  output: spendAnswerSchema,
  changedBy: ["spending"],
  problems: [503],
  perform: async (query, { spend }, { isMine }) => {
    const answer = await spend.answer(query);
    const own = `agent:${query.agent}`;
    return isMine === null
      ? answer
      : { ...answer, limits: answer.limits.filter(({ scope }) => scope === own) };
  },
});

export const raiseBudget = operationsOf<SpendContext>("Spending").change(
  "/api/budgets/:scope/raise",
  {
    summary: "Raise the limits of a budget",
    description:
      "Adds to the limits of the project, of an agent and its live runs, or of one run, until their windows end. " +
      "Runs that wait for money continue. The answer has the limits of the scope's day and month.",
    params: budgetParams,
    input: raiseSchema,
    output: raisedSchema,
    scope: "control",
    isAbout: ({ scope }, isMine) => {
      const [kind, id = ""] = scope.split(":");
      return isMine(kind === "run" ? agentOf(id) : kind === "agent" ? id : null);
    },
    audit: ({ scope, usd }) => {
      const [kind, id = ""] = scope.split(":");
      const about = kind === "run" ? { agent: agentOf(id), instanceId: id } : { agent: id || null };
      return { act: "raise", ...about, detail: `${scope} by ${usdText(nanoOfUsd(usd))}` };
    },
    problems: [404, 503],
    perform: async ({ scope, usd }, { spend }) => ({
      success: true as const,
      scope,
      limits: await spend.raise(scope, usd),
    }),
  },
);
