import { z } from "zod";
import type { AlertOptions } from "../../../../streams/alert-options.ts";
import type { Alert, AlertPhase, AlertTopic } from "../../../foundation/contracts/alert.ts";
import { faultSchema, parsedState, plainFault } from "./rule-states.ts";

/** What lasts until it is right again. */
export const conditionTopics = [
  "runs",
  "no_success",
  "config",
  "image",
  "credentials",
  "blocked",
] as const satisfies readonly AlertTopic[];
export type ConditionTopic = (typeof conditionTopics)[number];

/** What is seen anew at each start, and still there when a disabled agent is enabled. */
export function isSeenAnew(topic: ConditionTopic): boolean {
  return topic !== "runs" && topic !== "no_success";
}

/** What is mended within this time, in ms, such as a file that is being edited, is not worth an alert. */
export const settleMs = 60_000;

const stateSchema = z.object({
  /** Epoch ms. */
  since: z.number(),
  /** Failures in a row. */
  count: z.number(),
  /** When it was alerted last, epoch ms; null before it was. */
  alertedAt: z.number().nullable(),
  fault: faultSchema,
});
export type ConditionState = Readonly<z.infer<typeof stateSchema>>;

/** Something that is wrong with an agent, or may be soon. */
export interface Condition {
  /** Empty for the project as a whole. */
  readonly agent: string;
  readonly topic: ConditionTopic;
  state: ConditionState;
  /** False for what an earlier scheduler saw and this one has not seen yet. */
  isCertain: boolean;
  cancelTimer: () => void;
}

/** It begins now; it was not alerted yet. */
export function newCondition(agent: string, topic: ConditionTopic, now: number): Condition {
  const count = topic === "runs" ? 0 : 1;
  const state = { since: now, count, alertedAt: null, fault: plainFault(null) };
  return { agent, topic, state, isCertain: true, cancelTimer: () => undefined };
}

/** The condition that an earlier scheduler stored; null if it can't be read. */
export function storedCondition(
  agent: string,
  topic: ConditionTopic,
  value: string | null,
): Condition | null {
  const state = parsedState(stateSchema, value);
  if (state === null) return null;
  return { agent, topic, state, isCertain: !isSeenAnew(topic), cancelTimer: () => undefined };
}

/** When its next alert is due, epoch ms; Infinity for never. */
export function nextAlertAt({ topic, state }: Condition, options: AlertOptions): number {
  const { since, count, alertedAt } = state;
  if (alertedAt !== null) return alertedAt + (options.remindMs ?? Infinity);
  if (topic === "runs") return count >= options.after ? since : Infinity;
  if (topic === "no_success") return since + (options.noSuccessForMs ?? Infinity);
  return since + settleMs;
}

/** What is alerted about it at `now`. */
export function conditionAlert(condition: Condition, phase: AlertPhase, now: number): Alert {
  const { agent, topic, state } = condition;
  const { since, count, fault } = state;
  const run = phase === "resolved" ? plainFault(fault.reason) : fault;
  return {
    ...run,
    topic,
    phase,
    agent: agent === "" ? null : agent,
    at: now,
    since,
    count,
    agents: [],
  };
}
