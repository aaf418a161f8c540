import { concatMap, map } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentRecord } from "../../streams/status/agent-record.ts";
import { budgetsFor, runScope } from "../foundation/contracts/budget.ts";
import { ownerOf } from "../features/spend/rules/refusal-text.ts";
import { nanoOfUsd, usdText } from "../foundation/contracts/money.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import type { CallGrant, CallRefusal, Meter } from "../foundation/contracts/model-gateway.ts";
import type { BudgetWarning, SpendMeter, SpendStore } from "../foundation/contracts/spend.ts";
import { messageOf } from "../foundation/errors.ts";
import { modelTerms } from "../features/models/prices.ts";
import type { LiveRuns } from "../runtime/runs/live-runs.ts";
import { createMeter } from "../features/spend/meter.ts";

export interface RunMeterDeps {
  readonly store: SpendStore;
  /** As its config is now. */
  readonly project: () => Pick<ProjectConfig, "models" | "timezone" | "budget">;
  readonly agent: (name: string) => Pick<AgentRecord, "config"> | undefined;
  readonly runs: Pick<LiveRuns, "of" | "find">;
  readonly warn: (message: string) => void;
}

/** Counts what runs spend, and limits it, by the configs that are active when a call begins. */
export function createRunMeter({ store, project, agent, runs, warn }: RunMeterDeps): SpendMeter {
  return createMeter({
    store,
    termsOf: (name, providerModel) => {
      const {
        provider = "custom",
        authType = "api_key",
        maxTokens = null,
        price = null,
        requestsPerMinute = null,
      } = project().models[name] ?? {};
      const asked = { provider, model: providerModel, authType, maxTokens };
      return modelTerms(asked, { price, requestsPerMinute });
    },
    budgetsOf: (name) => {
      const { budget, timezone } = project();
      return budgetsFor(budget, name === null ? undefined : agent(name)?.config?.budget, timezone);
    },
    timezone: () => project().timezone,
    liveRuns: (name) => runs.of(name),
    onWait: ({ instanceId }, text) => runs.find(instanceId)?.warn(text),
    onError: (error) => warn(`the cost of a call is not recorded: ${messageOf(error)}`),
  });
}

export interface NoteRefusalsDeps {
  readonly meter: Meter;
  readonly runs: Pick<LiveRuns, "find">;
  readonly store: Pick<SpendStore, "recordRefusal">;
  readonly warn: (message: string) => void;
}

/**
 * The meter, which notes at each run whether its last call was refused for its budget: that decides how it ended. A
 * refusal is durable before the run reads it, as the scheduler may die before the run ends.
 */
export function noteRefusals({ meter, runs, store, warn }: NoteRefusalsDeps): Meter {
  return {
    begin: async (plan, signal) => {
      const answer = await meter.begin(plan, signal);
      const run = runs.find(plan.instanceId);
      const reason = overBudget(answer);
      if (run === undefined || run.overBudget === reason) return answer;
      run.overBudget = reason;
      const recorded = store.recordRefusal(plan.instanceId, reason).catch((error: unknown) => {
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

/** Logs a warning for each percentage of a limit that was passed: in a run's log for its own, else the scheduler's. */
export function budgetWarnings(
  { warning$ }: Pick<SpendMeter, "warning$">,
  runs: Pick<LiveRuns, "find">,
): Observable<string> {
  return warning$.pipe(
    map((warning) => ({ run: runs.find(instanceOf(warning.scope)), text: warningText(warning) })),
    concatMap(({ run, text }) => {
      run?.warn(text);
      return run === undefined ? [text] : [];
    }),
  );
}

/** Empty for a scope that is no run's. */
function instanceOf(scope: string): string {
  return scope.startsWith(runScope("")) ? scope.slice(runScope("").length) : "";
}

function warningText({ scope, window, percent, usd, limitUsd }: BudgetWarning): string {
  const amounts = `${usdText(nanoOfUsd(usd))} of ${usdText(nanoOfUsd(limitUsd))} is spent`;
  return `${ownerOf(scope, window)}: ${amounts}, that is ${percent} % or more`;
}
