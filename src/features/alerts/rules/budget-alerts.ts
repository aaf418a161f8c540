import { z } from "zod";
import { nanoOfUsd, usdText } from "../../../foundation/contracts/money.ts";
import type { MachineContext } from "../../../../streams/machine.ts";
import type { BudgetCommand } from "./alert-command.ts";
import type { Alert, RuleState } from "../../../foundation/contracts/alert.ts";
import { parsedState, plainFault } from "./rule-states.ts";

const passedSchema = z.object({ window: z.string(), limitUsd: z.number(), percent: z.number() });
type Passed = Readonly<z.infer<typeof passedSchema>>;

export interface BudgetAlertDeps extends Pick<MachineContext<never>, "now"> {
  /** What an earlier scheduler knew. */
  readonly states: readonly RuleState[];
  readonly save: (state: RuleState) => void;
  readonly alert: (alert: Alert) => void;
}

/**
 * Alerts each percentage once a window, and anew once the limit was changed: that the project's budget is used up comes from
 * each of its agents, and again after a restart.
 */
export function createBudgetAlerts(deps: BudgetAlertDeps): (command: BudgetCommand) => void {
  const latest = new Map<string, Passed>();
  for (const { agent, rule, value } of deps.states) {
    const passed = rule.startsWith(rulePrefix) ? parsedState(passedSchema, value) : null;
    if (passed !== null) latest.set(`${agent}/${rule}`, passed);
  }
  return (command) => {
    const { window, limitUsd, percent } = command;
    const agent = command.agent ?? "";
    const rule = ruleOf(window);
    const before = latest.get(`${agent}/${rule}`);
    const isSame = before?.window === window && before.limitUsd === limitUsd;
    if (isSame && percent <= before.percent) return;
    const passed = { window, limitUsd, percent };
    latest.set(`${agent}/${rule}`, passed);
    deps.save({ agent, rule, value: JSON.stringify(passed) });
    deps.alert(budgetAlert(command, deps.now()));
  };
}

const rulePrefix = "budget:";

function ruleOf(window: string): string {
  return `${rulePrefix}${window.length > "2026-11".length ? "day" : "month"}`;
}

function budgetAlert({ agent, window, percent, usd, limitUsd }: BudgetCommand, at: number): Alert {
  const [spent, limit] = [usdText(nanoOfUsd(usd)), usdText(nanoOfUsd(limitUsd))];
  return {
    ...plainFault(`${spent} of ${limit} for ${window} is spent`),
    topic: "budget",
    phase: "opened",
    agent,
    at,
    since: at,
    count: percent,
    agents: [],
  };
}
