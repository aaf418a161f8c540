import { createAlertRecords, type AlertRecordsDeps } from "./alert-records.ts";
import type { LastingTopic } from "./alert.ts";
import { alertOf, isLasting, isOccurrence, isOpen, isSeenAgain } from "./records.ts";
import type { Fault } from "./records.ts";

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
export function createFaults(deps: AlertRecordsDeps) {
  const { now, optionsOf, alert } = deps;
  const { records, recordOf, arm, inactive, ...rest } = createAlertRecords(deps);
  /** Agents that were set since the start; null after the first minute. */
  let present: Set<string> | null = new Set([""]);

  const isActive = (agent: string): boolean => !inactive.has(agent);
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
    ...rest,
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
  };
}
