import { z } from "zod";
import { onLimits, type Budget } from "../../../streams/agent-config.ts";
import { defaultBudget } from "../contracts/budget.ts";
import { agentKey, fact } from "./config-key.ts";
import { describeKeys } from "./format-value.ts";
import { choice, integer, list, table } from "./fields.ts";

/** Larger sums are not exact to the nano-dollar. */
const maxUsd = 1_000_000;

/** An amount of USD above 0. */
export function usd() {
  const error = `an amount of USD above 0, up to ${maxUsd}, e.g. 1.50`;
  return z.number({ error }).positive({ error }).max(maxUsd, { error });
}

const turns = integer("answers of models", 1);
const percents = list(integer("percent", 1, 100), "a list of percentages, e.g. [50, 80]");

const onLimit = choice(onLimits);

/** The project's `[budget]`. */
export const projectBudgetSchema = table({
  run: usd()
    .default(defaultBudget.runUsd)
    .describe("Spending limit per run. Overridden by the agent's `[budget].run`."),
  day: usd().optional().meta({
    description: "Spending limit of all runs per calendar day in the project's time zone.",
    fallback: "no limit",
  }),
  month: usd().optional().meta({
    description: "Spending limit of all runs per calendar month in the project's time zone.",
    fallback: "no limit",
  }),
  turns: turns.optional().meta({
    description:
      "Maximum number of model answers per run. Overridden by the agent's `[budget].turns`.",
    fallback: "no limit",
  }),
  warnAt: percents
    .default([...defaultBudget.warnAt])
    .describe(
      "Log a warning when spending reaches these percentages of a limit, once per day or month.",
    ),
  onLimit: onLimit
    .default(defaultBudget.onLimit)
    .describe(
      'What happens at a limit. "stop": the run ends as `over_budget`, and new triggers are not processed until the day or month ends; replay them later. "pause": runs and triggers wait until then, or until a person raises the limit with `al budget raise`. A paused run keeps its session, frees its slot, and its timeout stops. Runs that reach `turns` and runs of the llm-cli harness always stop.',
    ),
});

const agentBudgetSchema = table({
  run: usd()
    .optional()
    .meta({ description: "Spending limit per run.", fallback: "the project's `run`" }),
  day: usd().optional().meta({
    description: "Spending limit of the agent per calendar day in the project's time zone.",
    fallback: "no limit",
  }),
  month: usd().optional().meta({
    description: "Spending limit of the agent per calendar month in the project's time zone.",
    fallback: "no limit",
  }),
  turns: turns.optional().meta({
    description: "Maximum number of model answers per run.",
    fallback: "the project's `turns`",
  }),
  warnAt: percents.optional().meta({
    description: "Log a warning when spending reaches these percentages of the agent's limits.",
    fallback: "the project's `warnAt`",
  }),
  onLimit: onLimit.optional().meta({
    description:
      'What happens at one of the agent\'s limits: "stop" or "pause", as in the project\'s `[budget]`.',
    fallback: "the project's `onLimit`",
  }),
});

/** The project's budget from its table. */
export function projectBudget(given: z.output<typeof projectBudgetSchema>): Budget {
  return {
    runUsd: given.run,
    dayUsd: given.day ?? null,
    monthUsd: given.month ?? null,
    turns: given.turns ?? null,
    warnAt: given.warnAt,
    onLimit: given.onLimit,
  };
}

/** A budget under the file's keys. */
export function writtenBudget({ runUsd, dayUsd, monthUsd, ...same }: Budget): object {
  const { turns: most, warnAt, onLimit: then } = same;
  return { run: runUsd, day: dayUsd, month: monthUsd, turns: most, warnAt, onLimit: then };
}

/** An agent's own `[budget]`. */
export const budgetKey = agentKey({
  inFile: "budget",
  field: agentBudgetSchema
    .prefault({})
    .describe(
      "Spending limits of the agent's runs. The project's `day` and `month` also apply, to all agents together.",
    ),
  resolve: (given, { project: { budget } }): Budget => ({
    runUsd: given.run ?? budget.runUsd,
    dayUsd: given.day ?? null,
    monthUsd: given.month ?? null,
    turns: given.turns ?? budget.turns,
    warnAt: given.warnAt ?? budget.warnAt,
    onLimit: given.onLimit ?? budget.onLimit,
  }),
  written: writtenBudget,
  value: z.object({
    runUsd: z.number().nullable(),
    dayUsd: z.number().nullable(),
    monthUsd: z.number().nullable(),
    turns: z.int().nullable(),
    warnAt: z.array(z.int()).readonly(),
    onLimit: z.enum(onLimits),
  }),
  change: describeBudgets,
  facts: (budget) => fact("Budget", budgetText(budget)),
});

/** `budget.run 10 → 5`, by the file's keys. */
export function describeBudgets(before: Budget, after: Budget): string {
  return describeKeys("budget", writtenBudget(before), writtenBudget(after));
}

/** `$10 a run, $20 a day, 60 answers a run; at a limit, work is refused`. */
function budgetText({ runUsd, dayUsd, monthUsd, turns: most, onLimit: then }: Budget): string {
  const amount = (value: number | null, per: string) =>
    value === null ? [] : [`$${value} a ${per}`];
  const limits = [
    ...amount(runUsd, "run"),
    ...amount(dayUsd, "day"),
    ...amount(monthUsd, "month"),
    ...(most === null ? [] : [`${most} answers a run`]),
  ];
  return `${limits.join(", ")}; at a limit, work ${then === "stop" ? "is refused" : "waits"}`;
}
