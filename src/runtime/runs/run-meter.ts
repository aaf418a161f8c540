import { createSpend, type SpendStore } from "../../features/spend/spend-store.ts";
import { concatMap, map, type Observable } from "rxjs";
import { agentOf, budgetName, budgetsFor, runScope } from "../../foundation/contracts/budget.ts";
import { nanoOfUsd, usdText } from "../../foundation/contracts/money.ts";
import type { CallGrant, CallRefusal, Meter } from "../../foundation/contracts/model-gateway.ts";
import type { BudgetWarning } from "../../foundation/contracts/spend.ts";
import { messageOf } from "../../foundation/errors.ts";
import { modelTerms } from "../../features/models/prices.ts";
import type { FindRun, LiveRuns } from "./live-runs.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import { createMeter, type SpendMeter } from "../../features/spend/meter.ts";

/** Counts and limits the spending of runs, by the configs that are active when a call begins. */
export function createRunMeter(
  { store, project$, status, warn }: SchedulerContext,
  runs: Pick<LiveRuns, "of" | "find">,
): SpendMeter {
  return createMeter({
    store: store.tables(createSpend),
    termsOf: (name, providerModel) => {
      const {
        provider = "custom",
        authType = "api_key",
        maxTokens = null,
        price = null,
        requestsPerMinute = null,
      } = project$.value.models[name] ?? {};
      const asked = { provider, model: providerModel, authType, maxTokens };
      return modelTerms(asked, { price, requestsPerMinute });
    },
    budgetsOf: (name) => {
      const { budget, timezone } = project$.value;
      const agent = name === null ? undefined : status.agent(name);
      return budgetsFor(budget, agent?.config?.budget, timezone);
    },
    timezone: () => project$.value.timezone,
    liveRuns: (name) => runs.of(name),
    onWait: ({ instanceId }, text) => runs.find(instanceId)?.warn(text),
    onError: (error) => warn(`the cost of a call is not recorded: ${messageOf(error)}`),
  });
}

/**
 * The meter, which stores for each run whether its last call was rejected for its budget, because that decides the run's
 * outcome. A rejection is durable before the run reads it, because the scheduler may die before the run ends.
 */
export function noteRefusals(
  spend: Pick<SpendStore, "recordRefusal">,
  { warn }: Pick<SchedulerContext, "warn">,
  runs: FindRun,
  meter: Meter,
): Meter {
  return {
    begin: async (plan, signal) => {
      const answer = await meter.begin(plan, signal);
      const run = runs.find(plan.instanceId);
      const reason = overBudget(answer);
      if (run === undefined || run.overBudget === reason) return answer;
      run.overBudget = reason;
      const recorded = spend.recordRefusal(plan.instanceId, reason).catch((error: unknown) => {
        warn(`why ${plan.instanceId} was refused a call is not recorded: ${messageOf(error)}`);
      });
      if (!answer.granted) await recorded;
      return answer;
    },
  };
}

function overBudget(answer: CallGrant | CallRefusal): string | null {
  if (answer.granted || answer.code === "rate_limited") return null;
  return answer.detail;
}

/** Logs a warning for each passed percentage of a limit: in a run's log for its own, else in the scheduler's. */
export function budgetWarnings(
  { warning$ }: Pick<SpendMeter, "warning$">,
  runs: FindRun,
): Observable<string> {
  return warning$.pipe(
    map((warning) => ({ run: runs.find(instanceOf(warning.scope)), text: warningText(warning) })),
    concatMap(({ run, text }) => {
      run?.warn(text);
      return run === undefined ? [text] : [];
    }),
  );
}

/** Empty for the scope of an agent or of the project. */
function instanceOf(scope: string): string {
  return scope.startsWith(runScope("")) ? scope.slice(runScope("").length) : "";
}

function warningText({ scope, window, percent, usd, limitUsd }: BudgetWarning): string {
  const amounts = `${usdText(nanoOfUsd(usd))} of ${usdText(nanoOfUsd(limitUsd))}`;
  const agent = agentOf(scope);
  const whose = agent === null ? "" : ` of ${agent}`;
  return `${budgetName({ scope, window })}${whose}: ${amounts} spent, at least ${percent} %`;
}
