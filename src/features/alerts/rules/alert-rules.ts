import type { Outcome } from "../../../../streams/outcomes.ts";
import type { AlertOptions, AlertTarget, QuietHours } from "../../../../streams/alert-options.ts";
import { createMachine, type Machine, type MachineContext } from "../../../../streams/machine.ts";
import type { RunEvent, WorkItem } from "../../../../streams/vocabulary.ts";
import type {
  Acknowledgement,
  Alert,
  AlertWrites,
  Delivery,
  LastingTopic,
  OpenAlert,
  RuleState,
} from "./alert.ts";
import { nanoOfUsd, usdText } from "../../../foundation/contracts/money.ts";
import { createAgentAlerts } from "./agent-alerts.ts";
import { createFaults } from "./faults.ts";
import { plainFault, settleMs, reasonLine } from "./records.ts";
import { momentsOf, shownAt } from "../../../../streams/wall-time.ts";

export interface AlertRulesDeps {
  /** The stored state of an earlier scheduler. */
  readonly states: readonly RuleState[];
  /** Start of this scheduler, epoch ms. */
  readonly startedAt: number;
  /** The options of an agent, null for the project as a whole; an unknown agent has those of the project. */
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly targets: () => readonly AlertTarget[];
  /** IANA name. */
  readonly timezone: () => string;
  /** Creates the UUID of a delivery. */
  readonly newId: () => string;
}

export type AlertCommand =
  /** Events without a fault change nothing. */
  | { readonly type: "run-event"; readonly event: RunEvent }
  /** The end of a run of an earlier scheduler, which has no event. */
  | {
      readonly type: "lost";
      readonly item: WorkItem;
      readonly instanceId: string;
      readonly outcome: Outcome;
      readonly reason: string | null;
      /** Whether its work is tried again. */
      readonly isRetried: boolean;
    }
  /** A budget passed a percentage that warns. */
  | BudgetCommand
  /** Why the project's config.toml is invalid, in one line; null once it is valid. */
  | { readonly type: "project-config"; readonly error: string | null }
  /** At a start: how long the scheduler was down. */
  | { readonly type: "scheduler-down"; readonly downMs: number; readonly crashed: boolean }
  /** A person acknowledges the open alerts of an agent (null for the project); `ack` null undoes that. */
  | {
      readonly type: "acknowledge";
      readonly agent: string | null;
      /** Null for all topics. */
      readonly topic: LastingTopic | null;
      readonly ack: Acknowledgement | null;
    }
  /** Targets or options of the project changed. An agent's options come with its `agent-set`. */
  | { readonly type: "options-changed" };

export interface BudgetCommand {
  readonly type: "budget";
  /** Null for the project's budget. */
  readonly agent: string | null;
  /** A day (`2026-11-22`) or a month (`2026-11`). */
  readonly window: string;
  readonly percent: number;
  /** Spent, US dollars. */
  readonly usd: number;
  readonly limitUsd: number;
}

/** Writes to commit together with the event behind the command. */
export type AlertEvent = { readonly type: "writes" } & AlertWrites;

type Change = RuleState | Delivery;

/** `targets`, `optionsOf` and `timezone` are called at each use, as the config may change. */
export interface AlertRules extends Machine<AlertCommand, AlertEvent> {
  /** Alerts that were opened and not resolved, the longest first. */
  open(): readonly OpenAlert[];
  openCount(): number;
}

/** The project as a whole, among the names of agents. */
const project = "";

/**
 * Decides when an alert opens, is repeated and resolves, and which targets it goes to. Each command costs the same with
 * ten agents and with a thousand, except for the end of the first minute.
 */
export function createAlertRules(deps: AlertRulesDeps): AlertRules {
  let faults: ReturnType<typeof createFaults> | undefined;
  const machine = createMachine<AlertCommand, Change>((context) => {
    const rules = createRules(deps, context);
    ({ faults } = rules);
    return rules.handle;
  });
  return {
    apply: (command, now) => writesOf(machine.apply(command, now)),
    elapse: (now) => writesOf(machine.elapse(now)),
    nextDue: () => machine.nextDue(),
    open: () => faults?.open() ?? [],
    openCount: () => faults?.openCount() ?? 0,
  };
}

function createRules(deps: AlertRulesDeps, { emit, timers, now }: MachineContext<Change>) {
  const { startedAt, optionsOf, newId } = deps;
  const alert = (one: Alert): void => {
    const { to } = optionsOf(one.agent);
    for (const { name, quietHours } of deps.targets()) {
      if (to !== null && !to.includes(name)) continue;
      const nextAt = quietEnd(quietHours, now(), deps.timezone()) ?? now();
      emit({ id: newId(), at: now(), target: name, alert: one, nextAt });
    }
  };
  const { states } = deps;
  const faults = createFaults({ states, optionsOf, timers, now, save: emit, alert });
  const agents = createAgentAlerts({ faults, now });
  timers.at(startedAt + settleMs, () => faults.settle());

  const handle = (command: AlertCommand): void => {
    switch (command.type) {
      case "run-event":
        return agents.onEvent(command.event);
      case "lost":
        return agents.onEnd({ ...command, costUsd: null });
      case "budget": {
        const { agent, window, percent, usd, limitUsd } = command;
        const rule = window.length > "2026-11".length ? "budget:day" : "budget:month";
        const limit = `${usdText(nanoOfUsd(limitUsd))} for ${window}`;
        const reason = `${usdText(nanoOfUsd(usd))} of ${limit} is spent`;
        return faults.reach(agent ?? project, rule, { percent, limit, reason });
      }
      case "project-config": {
        const { error } = command;
        if (error === null) return faults.clear(project, "config");
        return faults.fail(project, "config", plainFault(reasonLine(error)));
      }
      case "scheduler-down": {
        const { downMs, crashed } = command;
        const reason = crashed ? "it ended without being stopped" : "it was stopped";
        return faults.occur(project, "scheduler_down", reason, now() - downMs);
      }
      case "acknowledge":
        return faults.acknowledge(command.agent ?? project, command.topic, command.ack);
      case "options-changed":
        return faults.set(project, true);
    }
  };
  return { faults, handle };
}

/** The changes of one command: no event, or one event with the last state of each record. */
function writesOf(changes: readonly Change[]): readonly AlertEvent[] {
  if (changes.length === 0) return [];
  const states = new Map<string, RuleState>();
  const deliveries: Delivery[] = [];
  for (const change of changes) {
    if ("rule" in change) states.set(`${change.agent}/${change.rule}`, change);
    else deliveries.push(change);
  }
  return [{ type: "writes", states: [...states.values()], deliveries }];
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** The end of the quiet hours around a moment, both epoch ms, by a clock in `timezone` (IANA name); null outside of them. */
export function quietEnd(
  quiet: QuietHours | null,
  moment: number,
  timezone: string,
): number | null {
  if (quiet === null) return null;
  const shown = shownAt(moment, timezone);
  const ofDay = shown % dayMs;
  const [from, until] = [quiet.from * minuteMs, quiet.until * minuteMs];
  if (!isBetween(ofDay, from, until)) return null;
  const ends = shown - ofDay + until + (ofDay < until ? 0 : dayMs);
  const { first, second } = momentsOf(ends, timezone);
  // When the clock is set back, the first end may have passed.
  return first > moment ? first : second;
}

/** Over midnight if `from` is the later one. */
function isBetween(time: number, from: number, until: number): boolean {
  return from <= until ? from <= time && time < until : from <= time || time < until;
}
