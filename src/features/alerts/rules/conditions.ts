import type { AlertOptions } from "../../../../streams/alert-options.ts";
import type { Alert, RuleState, OpenAlert } from "../../../foundation/contracts/alert.ts";
import { conditionAlert, isSeenAnew, newCondition, nextAlertAt } from "./condition.ts";
import type { Condition, ConditionTopic } from "./condition.ts";
import { createConditionTable } from "./condition-table.ts";
import type { Fault } from "./rule-states.ts";
import type { MachineContext } from "../../../../streams/machine.ts";

export interface ConditionDeps extends Pick<MachineContext<never>, "timers" | "now"> {
  /** What an earlier scheduler knew. */
  readonly states: readonly RuleState[];
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly save: (state: RuleState) => void;
  readonly alert: (alert: Alert) => void;
}

/** What is wrong with agents, and with the project as a whole, whose name here is empty. */
export interface Conditions {
  /** Registers the agent or updates its options. Inactive agents raise no alerts. */
  set(agent: string, isActive: boolean): void;
  /** The agent is gone. */
  forget(agent: string): void;
  /** Something is wrong, or was once more. */
  fail(agent: string, topic: ConditionTopic, fault: Fault): void;
  /** It is right again. */
  clear(agent: string, topic: ConditionTopic): void;
  succeed(agent: string): void;
  /** The start is over: agents that were not set are gone, and what was not seen to be wrong any more is right. */
  settle(): void;
  /** Timestamps in the future (clock set back) are reset to now. */
  replan(): void;
  /** What was alerted and lasts, the longest first. */
  open(): readonly OpenAlert[];
  openCount(): number;
}

/**
 * An alert when something has been wrong for long or often enough, again while it lasts, and when it is right again.
 *
 *     fails:   ─x─x─────────────o──     x fails, o succeeds; after = 2
 *     alerts:  ───a────r────r───z──     a opened, r reminder, z resolved
 */
export function createConditions(deps: ConditionDeps): Conditions {
  const { timers, now, optionsOf, save, alert } = deps;
  const table = createConditionTable(deps.states);
  const inactive = new Set<string>();
  /** Agents that were set since the start; null once it is over. */
  let present: Set<string> | null = new Set([""]);
  let openCount = table.all().filter(isOpen).length;

  const isCounted = (agent: string): boolean => !inactive.has(agent);
  const change = (condition: Condition, changed: Partial<Condition["state"]>): void => {
    const wasOpen = isOpen(condition);
    condition.state = { ...condition.state, ...changed };
    openCount += Number(isOpen(condition)) - Number(wasOpen);
    const { agent, topic, state } = condition;
    if (isCounted(agent)) save({ agent, rule: topic, value: JSON.stringify(state) });
  };
  const drop = (condition: Condition): void => {
    condition.cancelTimer();
    table.remove(condition);
    openCount -= Number(isOpen(condition));
    save({ agent: condition.agent, rule: condition.topic, value: null });
  };
  const begin = (agent: string, topic: ConditionTopic): Condition => {
    const condition = newCondition(agent, topic, now());
    table.add(condition);
    return condition;
  };

  const arm = (condition: Condition): void => {
    const { agent } = condition;
    condition.cancelTimer();
    if (!condition.isCertain || !isCounted(agent)) return;
    const options = optionsOf(agent === "" ? null : agent);
    if (nextAlertAt(condition, options) <= now()) {
      const phase = isOpen(condition) ? "reminder" : "opened";
      change(condition, { alertedAt: now() });
      alert(conditionAlert(condition, phase, now()));
    }
    const due = nextAlertAt(condition, options);
    if (due < Infinity) condition.cancelTimer = timers.at(due, () => arm(condition));
  };
  /** `noSuccessFor` counts from when the agent is first seen. */
  const watchSuccess = (agent: string): void => {
    const known = table.get(agent, "no_success");
    const isWatched = agent !== "" && optionsOf(agent).noSuccessForMs !== null;
    if (isWatched && known === undefined) change(begin(agent, "no_success"), {});
    if (!isWatched && known !== undefined) drop(known);
  };

  const activate = (agent: string): void => {
    if (inactive.delete(agent)) {
      for (const one of table.ofAgent(agent)) change(one, { since: now() });
    }
    watchSuccess(agent);
    table.ofAgent(agent).forEach(arm);
  };
  /** What is wrong with it is remembered for the time when it is active again, without having been alerted. */
  const deactivate = (agent: string): void => {
    inactive.add(agent);
    for (const one of table.ofAgent(agent)) {
      if (!isSeenAnew(one.topic)) drop(one);
      else mute(one);
    }
  };
  const mute = (condition: Condition): void => {
    const { agent, topic } = condition;
    condition.cancelTimer();
    change(condition, { alertedAt: null });
    save({ agent, rule: topic, value: null });
  };

  const clear = (agent: string, topic: ConditionTopic): void => {
    const known = table.get(agent, topic);
    if (known === undefined) return;
    drop(known);
    if (isOpen(known)) alert(conditionAlert(known, "resolved", now()));
  };
  const forget = (agent: string): void => {
    table.ofAgent(agent).forEach(drop);
    inactive.delete(agent);
  };

  return {
    set: (agent, isActive) => {
      present?.add(agent);
      if (isActive) activate(agent);
      else deactivate(agent);
    },
    forget,
    fail: (agent, topic, fault) => {
      if (!isCounted(agent) && !isSeenAnew(topic)) return;
      const condition = table.get(agent, topic) ?? begin(agent, topic);
      condition.isCertain = true;
      const count = topic === "runs" ? condition.state.count + 1 : 1;
      change(condition, { count, fault });
      arm(condition);
    },
    clear,
    succeed: (agent) => {
      clear(agent, "runs");
      clear(agent, "no_success");
      if (!isCounted(agent)) return;
      watchSuccess(agent);
      const watched = table.get(agent, "no_success");
      if (watched !== undefined) arm(watched);
    },
    settle: () => {
      const there = present;
      present = null;
      for (const condition of table.all()) {
        const { agent, topic, isCertain } = condition;
        if (there?.has(agent) === false) drop(condition);
        // An image may take longer than this to build.
        else if (!isCertain && topic !== "image") clear(agent, topic);
      }
    },
    replan: () => {
      for (const condition of table.all()) {
        const { since, alertedAt } = condition.state;
        if (Math.max(since, alertedAt ?? 0) <= now()) continue;
        const earlier = alertedAt === null ? null : Math.min(alertedAt, now());
        change(condition, { since: Math.min(since, now()), alertedAt: earlier });
        // The others are when their agent is set.
        if (present?.has(condition.agent) !== false) arm(condition);
      }
    },
    open: () =>
      table
        .all()
        .filter(isOpen)
        .map(openAlert)
        .toSorted((a, b) => a.since - b.since),
    openCount: () => openCount,
  };
}

function isOpen({ state }: Condition): boolean {
  return state.alertedAt !== null;
}

function openAlert({ agent, topic, state }: Condition): OpenAlert {
  const { since, count, fault } = state;
  return { agent: agent === "" ? null : agent, topic, since, count, reason: fault.reason };
}
