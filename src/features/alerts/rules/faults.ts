import type { AlertOptions } from "../../../../streams/alert-options.ts";
import type { MachineContext } from "../../../../streams/machine.ts";
import type { Acknowledgement, Alert, LastingTopic, OpenAlert, RuleState } from "./alert.ts";
import {
  alertOf,
  createRecords,
  isLasting,
  isOccurrence,
  isOpen,
  isSeenAgain,
  nextAlertAt,
  plainFault,
} from "./records.ts";
import type { AlertRecord, Fault, OccurrenceTopic, Rule } from "./records.ts";

export interface FaultsDeps extends Pick<MachineContext<never>, "timers" | "now"> {
  readonly states: readonly RuleState[];
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly save: (state: RuleState) => void;
  readonly alert: (alert: Alert) => void;
}

export type Faults = ReturnType<typeof createFaults>;

/**
 * The faults of agents, and of the project, whose name here is empty. A lasting fault is alerted when it has lasted long
 * or often enough, again while it lasts, and when it is over. The first occurrence is alerted at once, those of the next
 * hour together at its end.
 *
 *     fails:   ─x─x─────────────o──     x fails, o succeeds; after = 2
 *     alerts:  ───a────r────r───z──     a opened, r reminder, z resolved
 *
 *     occurs:  ─x──xx─x─────────────────────x──
 *     alerts:  ─1─────────(3)───────────────1──     the number is the count
 */
export function createFaults(deps: FaultsDeps) {
  const { timers, now, optionsOf, alert } = deps;
  const records = createRecords(deps.states, deps.save);
  const inactive = new Set<string>();
  /** Agents that were set since the start; null after the first minute. */
  let present: Set<string> | null = new Set([""]);

  const isActive = (agent: string): boolean => !inactive.has(agent);
  const recordOf = (agent: string, rule: Rule): AlertRecord =>
    records.get(agent, rule) ?? records.begin(agent, rule, now());

  /** Raises the alert that is due, and plans the next one. */
  const arm = (record: AlertRecord): void => {
    const { agent, rule } = record;
    record.cancelTimer();
    if (!record.isCertain || (isLasting(rule) && !isActive(agent))) return;
    const options = optionsOf(agent === "" ? null : agent);
    if (nextAlertAt(record, options) <= now() && !raise(record)) return records.drop(record);
    const due = nextAlertAt(record, options);
    if (due < Infinity) record.cancelTimer = timers.at(due, () => arm(record));
  };
  /** False if the record ends: an hour without an occurrence. */
  const raise = (record: AlertRecord): boolean => {
    const { count, alertedAt } = record.state;
    if (isLasting(record.rule)) {
      const phase = isOpen(record) ? "reminder" : "opened";
      records.change(record, { alertedAt: now(), ack: null });
      alert(alertOf(record, phase, now()));
      return true;
    }
    if (count === 0) return false;
    const shown = alertOf(record, "opened", now());
    alert(count === 1 ? shown : { ...shown, since: alertedAt ?? now() });
    records.change(record, { alertedAt: now(), count: 0 });
    return true;
  };

  /** `noSuccessFor` counts from when the agent is first seen. */
  const watchSuccess = (agent: string): void => {
    const known = records.get(agent, "no_success");
    const isWatched = agent !== "" && optionsOf(agent).noSuccessForMs !== null;
    if (isWatched && known === undefined)
      records.change(recordOf(agent, "no_success"), { count: 1 });
    if (!isWatched && known !== undefined) records.drop(known);
  };
  const activate = (agent: string): void => {
    if (inactive.delete(agent)) {
      const lasting = records.ofAgent(agent).filter(({ rule }) => isLasting(rule));
      for (const one of lasting) records.change(one, { since: now() });
    }
    watchSuccess(agent);
    records.ofAgent(agent).forEach(arm);
  };
  /** Keeps the faults that outlast it in memory, as not alerted. */
  const deactivate = (agent: string): void => {
    inactive.add(agent);
    for (const one of records.ofAgent(agent).filter(({ rule }) => isLasting(rule))) {
      one.cancelTimer();
      if (isSeenAgain(one.rule)) records.change(one, { alertedAt: null }, { isStored: false });
      else records.drop(one);
    }
  };
  const clear = (agent: string, topic: LastingTopic): void => {
    const known = records.get(agent, topic);
    if (known === undefined) return;
    const wasOpen = isOpen(known);
    records.drop(known);
    if (wasOpen) alert(alertOf(known, "resolved", now()));
  };
  /** A budget stays: the agent may come back. */
  const forget = (agent: string): void => {
    const ended = records
      .ofAgent(agent)
      .filter(({ rule }) => isLasting(rule) || isOccurrence(rule));
    ended.forEach(records.drop);
    inactive.delete(agent);
  };

  return {
    /** Registers the agent or updates its options. Inactive agents raise no alerts about lasting faults. */
    set: (agent: string, isNowActive: boolean): void => {
      present?.add(agent);
      if (isNowActive) activate(agent);
      else deactivate(agent);
    },
    /** The agent was removed. */
    forget,
    /** A lasting fault begins, or occurs again. */
    fail: (agent: string, topic: LastingTopic, fault: Fault): void => {
      if (!isActive(agent) && !isSeenAgain(topic)) return;
      const record = recordOf(agent, topic);
      record.isCertain = true;
      const count = topic === "runs" ? record.state.count + 1 : 1;
      records.change(record, { count, fault }, { isStored: isActive(agent) });
      arm(record);
    },
    /** A lasting fault is over. */
    clear,
    succeed: (agent: string): void => {
      clear(agent, "runs");
      clear(agent, "no_success");
      if (!isActive(agent)) return;
      watchSuccess(agent);
      const watched = records.get(agent, "no_success");
      if (watched !== undefined) arm(watched);
    },
    /** Something happened at `since`, epoch ms. */
    occur: (agent: string, topic: OccurrenceTopic, reason: string | null, since: number): void => {
      const record = recordOf(agent, topic);
      const count = record.state.count + 1;
      records.change(record, { count, since, fault: plainFault(reason) });
      arm(record);
    },
    /**
     * A budget reached a percentage. It is alerted once a window, and again after the limit was changed; each agent
     * reports the project's budget, also after a restart.
     */
    reach: (
      agent: string,
      rule: "budget:day" | "budget:month",
      { percent, limit, reason }: { percent: number; limit: string; reason: string },
    ): void => {
      const record = recordOf(agent, rule);
      if (record.state.fault.reason === limit && percent <= record.state.count) return;
      const fault = plainFault(limit);
      records.change(record, { since: now(), count: percent, alertedAt: now(), fault });
      alert({ ...alertOf(record, "opened", now()), reason });
    },
    /** Acknowledges the open alerts of an agent, of all topics for null; `ack` null undoes that. */
    acknowledge: (agent: string, topic: LastingTopic | null, ack: Acknowledgement | null): void => {
      for (const record of records.ofAgent(agent).filter(isOpen)) {
        if (topic !== null && record.rule !== topic) continue;
        records.change(record, { ack });
        arm(record);
      }
    },
    /** A minute after the start: forgets agents that did not come, and clears faults that did not come again. */
    settle: (): void => {
      const known = present;
      present = null;
      for (const { agent, rule, isCertain } of records.all()) {
        if (known?.has(agent) === false) forget(agent);
        // An image may take longer than a minute to build.
        else if (!isCertain && rule !== "image") clear(agent, rule as LastingTopic);
      }
    },
    open: (): readonly OpenAlert[] =>
      records
        .all()
        .filter(isOpen)
        .map((record) => {
          const { agent, topic, since, count, reason } = alertOf(record, "opened", now());
          return { agent, topic, since, count, reason, ack: record.state.ack };
        })
        .toSorted((a, b) => a.since - b.since),
    openCount: records.openCount,
  };
}
