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
    .describe("What one run may spend on models, for agents without a run of their own."),
  day: usd()
    .optional()
    .describe("What all runs may spend in a calendar day of the project's time zone."),
  month: usd().optional().describe("What all runs may spend in a calendar month of it."),
  turns: turns
    .optional()
    .describe("How often models may answer in one run, for agents without turns of their own."),
  warnAt: percents
    .default([...defaultBudget.warnAt])
    .describe("At which percentages of a limit a warning is logged, once a window."),
  onLimit: onLimit
    .default(defaultBudget.onLimit)
    .describe(
      'What happens at a limit. "stop": a run that is refused a call ends as over_budget, and the work of an agent whose day or month is used up is refused, as a dead letter. "pause": both wait until the window turns or a person raises the limit (`al budget raise`); a run waits in its session, its slot free and its timeout stopped. Always as with "stop": runs that used up `turns`, and runs of the llm-cli harness.',
    ),
});

const agentBudgetSchema = table({
  run: usd().optional().describe("What one run may spend on models. Without it the project's."),
  day: usd()
    .optional()
    .describe("What its runs may spend in a calendar day of the project's time zone."),
  month: usd().optional().describe("What its runs may spend in a calendar month of it."),
  turns: turns
    .optional()
    .describe("How often models may answer in one run. Without it the project's."),
  warnAt: percents.optional().describe("As the project's, for its own limits."),
  onLimit: onLimit.optional().describe("As the project's, for its own work and runs."),
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
      "What its runs may spend on models. The project's day and month hold for all agents together.",
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
