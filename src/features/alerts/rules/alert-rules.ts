import { createMachine } from "../../../../streams/machine.ts";
import type { Machine, MachineContext } from "../../../../streams/machine.ts";
import { createAgentAlerts } from "./agent-alerts.ts";
import type { AlertCommand, AlertEvent } from "./alert-command.ts";
import type { AlertOptions, AlertTarget } from "../../../../streams/alert-options.ts";
import type { Alert, RuleState, OpenAlert } from "../../../foundation/contracts/alert.ts";
import { createBudgetAlerts } from "./budget-alerts.ts";
import { settleMs } from "./condition.ts";
import { createConditions } from "./conditions.ts";
import type { Conditions } from "./conditions.ts";
import { createDigests } from "./digests.ts";
import { createOccurrences } from "./occurrences.ts";
import { reasonLine } from "./reason-line.ts";
import { plainFault, writesOf } from "./rule-states.ts";
import type { AlertChange } from "./rule-states.ts";

export interface AlertRulesDeps {
  /** What the rules of an earlier scheduler knew. */
  readonly states: readonly RuleState[];
  /** When this scheduler started, epoch ms. */
  readonly startedAt: number;
  /** The options of an agent, null for the project as a whole; an unknown agent has those of the project. */
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly targets: () => readonly AlertTarget[];
  /** IANA name. */
  readonly timezone: () => string;
  /** Makes the UUID of a delivery. */
  readonly newId: () => string;
}

/** `targets`, `optionsOf` and `timezone` are read whenever they matter. */
export interface AlertRules extends Machine<AlertCommand, AlertEvent> {
  /** What was alerted and is still wrong, the longest first. */
  open(): readonly OpenAlert[];
  openCount(): number;
}

/** The project as a whole, among the names of agents. */
const project = "";

/**
 * Decides when an alert opens, is repeated and resolves, and what goes to which target when. Each command costs the same with
 * ten agents and with a thousand, but for the end of the first minute.
 */
export function createAlertRules(deps: AlertRulesDeps): AlertRules {
  let conditions: Conditions | undefined;
  const machine = createMachine<AlertCommand, AlertChange>((context) => {
    const rules = createRules(deps, context);
    ({ conditions } = rules);
    return rules.handle;
  });
  return {
    apply: (command, now) => writesOf(machine.apply(command, now)),
    elapse: (now) => writesOf(machine.elapse(now)),
    nextDue: () => machine.nextDue(),
    open: () => conditions?.open() ?? [],
    openCount: () => conditions?.openCount() ?? 0,
  };
}

function createRules(
  deps: AlertRulesDeps,
  { emit, timers, now }: MachineContext<AlertChange>,
): { readonly conditions: Conditions; readonly handle: (command: AlertCommand) => void } {
  const { startedAt } = deps;
  const save = (state: RuleState): void => emit({ type: "state", state });
  const digests = createDigests({
    ...deps,
    timers,
    now,
    save,
    deliver: (delivery) => emit({ type: "delivery", delivery }),
  });
  const rules = { ...deps, timers, now, save, alert: (alert: Alert) => digests.send(alert) };
  const conditions = createConditions(rules);
  const { record, replan } = createOccurrences(rules);
  const passBudget = createBudgetAlerts(rules);
  const agents = createAgentAlerts({ conditions, record, now });
  const settleAfter = (time: number): void =>
    void timers.at(time + settleMs, () => conditions.settle());
  settleAfter(startedAt);

  const handle = (command: AlertCommand): void => {
    switch (command.type) {
      case "run-event":
        return agents.onEvent(command.event);
      case "lost":
        return agents.onEnd({ ...command, costUsd: null });
      case "budget":
        return passBudget(command);
      case "project-config": {
        const { error } = command;
        if (error === null) return conditions.clear(project, "config");
        return conditions.fail(project, "config", plainFault(reasonLine(error)));
      }
      case "scheduler-down": {
        const { downMs, crashed } = command;
        const reason = crashed ? "it ended without being stopped" : "it was stopped";
        return record(project, "scheduler_down", { reason, since: now() - downMs });
      }
      case "options-changed":
        if (now() < startedAt) settleAfter(now());
        conditions.replan();
        replan();
        conditions.set(project, true);
        return digests.reschedule();
    }
  };
  return { conditions, handle };
}
