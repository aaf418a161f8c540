import { z } from "zod";
import type { Alert, AlertTopic, RuleState } from "../../../foundation/contracts/alert.ts";
import { settleMs } from "./condition.ts";
import { parsedState, plainFault } from "./rule-states.ts";
import type { MachineContext } from "../../../../streams/machine.ts";

/** What is over as soon as it happened. */
export const occurrenceTopics = [
  "missed_ticks",
  "dead_letters",
  "scheduler_down",
] as const satisfies readonly AlertTopic[];
export type OccurrenceTopic = (typeof occurrenceTopics)[number];

/** How long further ones are counted, in ms. */
const countedMs = 3_600_000;

const stateSchema = z.object({
  /** When it was alerted last, epoch ms. */
  alertedAt: z.number(),
  /** How many there were since. */
  count: z.number(),
  /** The last of these, times in epoch ms; null while there is none. */
  latest: z
    .object({ at: z.number(), since: z.number(), reason: z.string().nullable() })
    .readonly()
    .nullable(),
});
type OccurrenceState = Readonly<z.infer<typeof stateSchema>>;

export interface OccurrenceDeps extends Pick<MachineContext<never>, "timers" | "now"> {
  /** What an earlier scheduler knew. */
  readonly states: readonly RuleState[];
  readonly startedAt: number;
  readonly save: (state: RuleState) => void;
  readonly alert: (alert: Alert) => void;
}

/** Alerts what happened to an agent, or to the project, whose name is empty; `since` is epoch ms. */
export type RecordOccurrence = (
  agent: string,
  topic: OccurrenceTopic,
  what: { readonly reason: string | null; readonly since: number },
) => void;

export interface Occurrences {
  readonly record: RecordOccurrence;
  /** The clock may have been set back: hours that have yet to begin begin now. */
  readonly replan: () => void;
}

/**
 * The first is alerted at once, those of the hour after it together at its end, and so on until an hour has none. A single
 * one of an hour is alerted with its own times.
 *
 *     happens:  ─x──xx─x─────────────────────x──
 *     alerts:   ─1─────────(3)───────────────1──     the number is the count
 */
export function createOccurrences(deps: OccurrenceDeps): Occurrences {
  const { timers, now, save, alert } = deps;
  const hours = new Map<string, OccurrenceState>();

  const set = (agent: string, topic: OccurrenceTopic, state: OccurrenceState | null): void => {
    if (state === null) hours.delete(hourOf(agent, topic));
    else hours.set(hourOf(agent, topic), state);
    save({ agent, rule: topic, value: state && JSON.stringify(state) });
  };
  const emit = (
    agent: string,
    topic: OccurrenceTopic,
    { reason, ...what }: Pick<Alert, "at" | "since" | "reason" | "count">,
  ): void => {
    const whose = agent === "" ? null : agent;
    alert({ ...plainFault(reason), topic, phase: "opened", agent: whose, ...what, agents: [] });
  };
  const beginHour = (agent: string, topic: OccurrenceTopic): void => {
    set(agent, topic, { alertedAt: now(), count: 0, latest: null });
    timers.at(now() + countedMs, () => endHour(agent, topic));
  };
  const endHour = (agent: string, topic: OccurrenceTopic): void => {
    const hour = hours.get(hourOf(agent, topic));
    // It began anew meanwhile.
    if (hour !== undefined && now() < hour.alertedAt + countedMs) return;
    if (hour === undefined || hour.latest === null) return set(agent, topic, null);
    const { count, latest, alertedAt } = hour;
    const times = count === 1 ? latest : { at: now(), since: alertedAt };
    emit(agent, topic, { reason: latest.reason, count, at: times.at, since: times.since });
    beginHour(agent, topic);
  };

  for (const { agent, rule, value } of deps.states) {
    const topic = occurrenceTopics.find((one) => one === rule);
    const hour = parsedState(stateSchema, value);
    if (topic === undefined || hour === null) continue;
    hours.set(hourOf(agent, topic), hour);
    // Not before its agent is there, whose options say where its alerts go.
    const endsAt = Math.max(hour.alertedAt + countedMs, deps.startedAt + settleMs);
    timers.at(endsAt, () => endHour(agent, topic));
  }

  const record: RecordOccurrence = (agent, topic, { reason, since }) => {
    const hour = hours.get(hourOf(agent, topic));
    const latest = { at: now(), since, reason };
    if (hour !== undefined) return set(agent, topic, { ...hour, count: hour.count + 1, latest });
    emit(agent, topic, { ...latest, count: 1 });
    beginHour(agent, topic);
  };
  const replan = (): void => {
    for (const [key, hour] of [...hours]) {
      const agent = key.slice(0, key.indexOf("/"));
      const topic = occurrenceTopics.find((one) => hourOf(agent, one) === key);
      if (topic === undefined || hour.alertedAt <= now()) continue;
      set(agent, topic, { ...hour, alertedAt: now() });
      timers.at(now() + countedMs, () => endHour(agent, topic));
    }
  };
  return { record, replan };
}

function hourOf(agent: string, topic: OccurrenceTopic): string {
  return `${agent}/${topic}`;
}
