import type { AlertOptions } from "../../../../streams/alert-options.ts";
import type { MachineClock } from "../../../../streams/machine.ts";
import type { Acknowledgement, Alert, LastingTopic, OpenAlert, RuleState } from "./alert.ts";
import { alertOf, createRecords, isLasting, isOpen, nextAlertAt, plainFault } from "./records.ts";
import type { AlertRecord, OccurrenceTopic, Rule } from "./records.ts";

export interface AlertRecordsDeps extends MachineClock {
  readonly states: readonly RuleState[];
  readonly optionsOf: (agent: string | null) => AlertOptions;
  readonly save: (state: RuleState) => void;
  readonly alert: (alert: Alert) => void;
}

/** Records with the timers of their alerts: occurrences, passed budgets, and reminders until a person acknowledges them. */
export function createAlertRecords(deps: AlertRecordsDeps) {
  const { timers, now, optionsOf, alert } = deps;
  const records = createRecords(deps.states, deps.save);
  /** Agents that raise no alerts about lasting faults. */
  const inactive = new Set<string>();

  const recordOf = (agent: string, rule: Rule): AlertRecord =>
    records.get(agent, rule) ?? records.begin(agent, rule, now());

  /** Raises the alert that is due, and plans the next one. */
  const arm = (record: AlertRecord): void => {
    const { agent, rule } = record;
    record.cancelTimer();
    if (!record.isCertain || (isLasting(rule) && inactive.has(agent))) return;
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

  return {
    records,
    /** The record of an agent and a rule. Creates it at the first request. */
    recordOf,
    arm,
    inactive,
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
