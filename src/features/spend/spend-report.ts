import { z } from "zod";
import { maxRaiseUsd, spendKeys } from "../../foundation/contracts/budget.ts";

/** Query of `GET /api/spend`. */
export const spendQuerySchema = z.object({
  by: z.enum(spendKeys).default("day"),
  since: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: "Calls from then on. Default: the calls of `days`" }),
  days: z.coerce.number().int().min(1).max(366).optional().meta({
    description: "Calls of the last days in the project's time zone, including today. Default: 30",
  }),
  agent: z.string().optional().meta({ description: "Only calls, limits and runs of this agent" }),
  top: z.coerce.number().int().min(1).max(10).optional().meta({
    description: "Adds to each row the cost of this many agents, the most expensive ones",
  }),
});
export type SpendRequest = z.infer<typeof spendQuerySchema>;

const usd = z.number().meta({ description: "US dollars" });

const rowSchema = z
  .object({
    key: z.string().meta({ description: "The agent, the model's name in the project, or the day" }),
    usd: usd.meta({
      description: "Excludes reservations of open calls and costs paid by subscriptions",
    }),
    subscriptionUsd: usd.meta({
      description: "What calls paid by subscriptions would have cost",
    }),
    calls: z.int(),
    tokens: z.int().meta({ description: "Tokens of requests and answers, including cached ones" }),
    unpriced: z.int().meta({
      description: "Calls without a known price, charged at their provider's highest price",
    }),
    estimated: z.int().meta({ description: "Calls whose provider did not report their tokens" }),
    agents: z.exactOptional(z.record(z.string(), z.number()).readonly()).meta({
      description: "US dollars by agent, with `top` alone; agents without a call are omitted",
    }),
  })
  .meta({ id: "SpendRow" });
/** The total cost of calls to models. */
export type SpendRowView = Readonly<z.infer<typeof rowSchema>>;

const limitSchema = z
  .object({
    scope: z.string().meta({ description: "`project`, `agent:<name>` or `run:<instanceId>`" }),
    window: z.string().meta({ description: "A day (`2026-11-22`) or a month (`2026-11`)" }),
    endsAt: z.iso.datetime().nullable().meta({ description: "When the window ends" }),
    usd: usd.meta({ description: "Spent, excluding reservations" }),
    limit: z.number().nullable().meta({ description: "US dollars; null for no limit" }),
    reserved: usd.meta({ description: "By calls that are open" }),
    needed: z.exactOptional(
      usd.meta({ description: "Minimum cost of its rejected call, while it can't pay the call" }),
    ),
  })
  .meta({ id: "SpendLimit" });
/** The spending in a window of a scope, and its limit. */
export type SpendLimit = Readonly<z.infer<typeof limitSchema>>;

const forecastSchema = z
  .object({
    monthUsd: usd.meta({ description: "Cost of 30 days, with runs of the median cost" }),
    p90Usd: usd.meta({
      description: "Cost of 30 days, with a run cost that only a tenth of the last runs exceeded",
    }),
  })
  .meta({ id: "SpendForecast" });
/** The future cost of enabled agents, by their schedules, their triggers and their last runs. */
export type SpendForecast = Readonly<z.infer<typeof forecastSchema>>;

/** The answer of `GET /api/spend`. */
export const spendAnswerSchema = z
  .object({
    rows: z.array(rowSchema).readonly(),
    limits: z.array(limitSchema).readonly(),
    forecast: forecastSchema.nullable().meta({
      description:
        "Based on the last 20 runs of each enabled agent, its schedule, and the rate of its webhooks and calls in the last 30 days; null without such a run",
    }),
  })
  .meta({ id: "SpendAnswer" });
export type SpendAnswer = Readonly<z.infer<typeof spendAnswerSchema>>;

/** Path of `POST /api/budgets/<scope>/raise`. */
export const budgetParams = z.object({
  scope: z.string().meta({ description: "`project`, `agent:<name>` or `run:<instanceId>`" }),
});

/** Body of `POST /api/budgets/<scope>/raise`. */
export const raiseSchema = z.strictObject({
  usd: z.number().positive().max(maxRaiseUsd).meta({ description: "Amount to add, in US dollars" }),
});

/** The answer of `POST /api/budgets/<scope>/raise`. */
export const raisedSchema = z
  .object({ success: z.literal(true), scope: z.string(), limits: z.array(limitSchema).readonly() })
  .meta({ id: "BudgetRaised" });
export type BudgetRaised = Readonly<z.infer<typeof raisedSchema>>;
