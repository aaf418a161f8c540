import { harnesses } from "../../../streams/harnesses.ts";
import { nanoOfUsd, usdText } from "../../foundation/contracts/money.ts";
import { noMoneyCode } from "../../foundation/contracts/model-gateway.ts";
import type { CallRefusal, Meter } from "../../foundation/contracts/model-gateway.ts";
import { deniedText, type Gates } from "./gates.ts";
import type { LiveRun } from "./live-run.ts";
import type { LiveRuns } from "./live-runs.ts";

/**
 * The meter, which holds a call that would exceed `[approve].over` until a person answers. A harness that waits for money
 * is refused the call, and waits as for a budget: the gateway must not keep conversations in memory for a day.
 */
export function gatedMeter(gates: Gates, runs: LiveRuns, meter: Meter): Meter {
  return {
    begin: async (plan, signal) => {
      for (;;) {
        const run = runs.find(plan.instanceId);
        if (run === undefined) return meter.begin(plan, signal);
        const { usd: approvedUsd, isDenied } = gates.approved(run);
        if (isDenied) return refused(deniedText);
        const answer = await meter.begin({ ...plan, approvedUsd }, signal);
        if (answer.granted || answer.code !== "not_approved" || approvedUsd === null) return answer;
        const canWait = !harnesses[run.request.agent.harness.type].startsCommand;
        if (canWait) return refused(neededText(approvedUsd));
        const denied = await run.whileOpen(() => gates.over(run, approvedUsd, signal));
        if (denied !== null) return refused(denied);
      }
    },
  };
}

/** Whether the run's last call was refused for lack of a person's approval. */
export function needsApproval({ overBudget }: LiveRun): boolean {
  return overBudget?.startsWith(neededPrefix) === true;
}

/** Null if such a run may repeat its call, else why not; waits for a person if none has answered. */
export async function waitForApproval(
  gates: Gates,
  run: LiveRun,
  signal: AbortSignal,
): Promise<string | null> {
  const refusal = run.overBudget;
  const { usd, isDenied } = gates.approved(run);
  // A person may have answered since, before a restart of the scheduler.
  if (isDenied || usd === null || refusal !== neededText(usd)) return isDenied ? deniedText : null;
  // A run ended meanwhile does not end for its budget: its work may be retried.
  run.overBudget = null;
  try {
    return await gates.over(run, usd, signal);
  } finally {
    run.overBudget = refusal;
  }
}

const neededPrefix = "this run needs a person's approval";

function neededText(usd: number): string {
  return `${neededPrefix} to spend more than ${usdText(nanoOfUsd(usd))} ([approve].over)`;
}

/** A refusal after which no client retries, and a harness that can waits for money. */
function refused(detail: string): CallRefusal {
  return { granted: false, code: noMoneyCode, detail };
}
