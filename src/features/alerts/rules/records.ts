import { outcomes } from "../../../../streams/outcomes.ts";
import { z } from "zod";
import type { AlertOptions } from "../../../../streams/alert-options.ts";
import { lastingTopics } from "./alert.ts";
import type { Alert, AlertPhase, AlertTopic, LastingTopic, RuleState } from "./alert.ts";

/** Events that are over as soon as they happen. */
export type OccurrenceTopic = "missed_ticks" | "dead_letters" | "scheduler_down";
/** A record's topic; budgets have one record for a day and one for a month. */
export type Rule = LastingTopic | OccurrenceTopic | "budget:day" | "budget:month";

const topics: Readonly<Record<Rule, AlertTopic>> = {
  runs: "runs",
  no_success: "no_success",
  config: "config",
  image: "image",
  credentials: "credentials",
  blocked: "blocked",
  missed_ticks: "missed_ticks",
  dead_letters: "dead_letters",
  scheduler_down: "scheduler_down",
  "budget:day": "budget",
  "budget:month": "budget",
};

export function isOccurrence(rule: Rule): boolean {
  return ["missed_ticks", "dead_letters", "scheduler_down"].includes(rule);
}

export function isLasting(rule: Rule): boolean {
  return lastingTopics.some((topic) => topic === rule);
}

/** Whether each start finds the fault again. It also outlasts the time in which its agent is disabled. */
export function isSeenAgain(rule: Rule): boolean {
  return isLasting(rule) && rule !== "runs" && rule !== "no_success";
}

const faultSchema = z.object({
  reason: z.string().nullable(),
  outcome: z.enum(outcomes).nullable(),
  instanceId: z.string().nullable(),
  costUsd: z.number().nullable(),
});
/** The latest failure. */
export type Fault = Readonly<z.infer<typeof faultSchema>>;

/** A fault without a run. */
export function plainFault(reason: string | null): Fault {
  return { reason, outcome: null, instanceId: null, costUsd: null };
}

const stateSchema = z.object({
  /** Epoch ms. */
  since: z.number(),
  /** Failures in a row, occurrences since the last alert, or the percentage of a budget. */
  count: z.number(),
  /** Time of the last alert, epoch ms; null before the first one. */
  alertedAt: z.number().nullable(),
  fault: faultSchema,
  /** See `Acknowledgement`; states of older versions have none. */
  ack: z
    .object({ by: z.string(), at: z.number(), until: z.number().nullable() })
    .nullable()
    .default(null),
});
export type RecordState = Readonly<z.infer<typeof stateSchema>>;

/** The state of one topic of an agent. */
export interface AlertRecord {
  /** Empty for the project as a whole. */
  readonly agent: string;
  readonly rule: Rule;
  state: RecordState;
  /** False for a fault of an earlier scheduler that this one has not seen yet. */
  isCertain: boolean;
  cancelTimer: () => void;
}

/** Whether the fault was alerted and lasts. */
export function isOpen({ rule, state }: AlertRecord): boolean {
  return isLasting(rule) && state.alertedAt !== null;
}

/** Faults that are fixed within this time, such as a file that is being edited, raise no alert, in ms. */
export const settleMs = 60_000;
/** How long occurrences are counted after an alert, in ms. */
const countedMs = 3_600_000;

/** When the next alert of a record is due, epoch ms; Infinity for never. */
export function nextAlertAt({ rule, state }: AlertRecord, options: AlertOptions): number {
  const { since, count, alertedAt } = state;
  if (topics[rule] === "budget") return Infinity;
  if (isOccurrence(rule)) return alertedAt === null ? 0 : alertedAt + countedMs;
  if (alertedAt !== null) return reminderAt(state, alertedAt, options);
  if (rule === "runs") return count >= options.after ? since : Infinity;
  if (rule === "no_success") return since + (options.noSuccessForMs ?? Infinity);
  return since + settleMs;
}

function reminderAt({ ack }: RecordState, alertedAt: number, { remindMs }: AlertOptions): number {
  return ack === null ? alertedAt + (remindMs ?? Infinity) : (ack.until ?? Infinity);
}

/** The alert about a record at `now`. */
export function alertOf(
  { agent, rule, state }: AlertRecord,
  phase: AlertPhase,
  now: number,
): Alert {
  const { since, count, fault } = state;
  const shown = phase === "resolved" ? plainFault(fault.reason) : fault;
  const topic = topics[rule];
  const whose = agent === "" ? null : agent;
  return { ...shown, topic, phase, agent: whose, at: now, since, count, agents: [] };
}

/** All records, by agent; `save` stores each change, and null for a record that is gone. */
export function createRecords(states: readonly RuleState[], save: (state: RuleState) => void) {
  const byAgent = new Map<string, Map<Rule, AlertRecord>>();
  let openCount = 0;
  const add = (agent: string, rule: Rule, state: RecordState, isCertain: boolean): AlertRecord => {
    const record = { agent, rule, state, isCertain, cancelTimer: () => undefined };
    const known = byAgent.get(agent);
    if (known === undefined) byAgent.set(agent, new Map([[rule, record]]));
    else known.set(rule, record);
    openCount += Number(isOpen(record));
    return record;
  };
  for (const { agent, rule, value } of states) {
    const state = parsed(value);
    if (state !== null && isRule(rule)) add(agent, rule, state, !isSeenAgain(rule));
  }
  const ofAgent = (agent: string): readonly AlertRecord[] => [
    ...(byAgent.get(agent)?.values() ?? []),
  ];
  return {
    get: (agent: string, rule: Rule) => byAgent.get(agent)?.get(rule),
    ofAgent,
    all: (): readonly AlertRecord[] => [...byAgent.keys()].flatMap(ofAgent),
    openCount: () => openCount,
    /** A record that begins now and was not alerted; stored with its first change. */
    begin: (agent: string, rule: Rule, now: number): AlertRecord => {
      const state = { since: now, count: 0, alertedAt: null, fault: plainFault(null), ack: null };
      return add(agent, rule, state, true);
    },
    change: (
      record: AlertRecord,
      changed: Partial<RecordState>,
      { isStored = true } = {},
    ): void => {
      const wasOpen = isOpen(record);
      record.state = { ...record.state, ...changed };
      openCount += Number(isOpen(record)) - Number(wasOpen);
      const { agent, rule, state } = record;
      save({ agent, rule, value: isStored ? JSON.stringify(state) : null });
    },
    drop: (record: AlertRecord): void => {
      const { agent, rule } = record;
      record.cancelTimer();
      openCount -= Number(isOpen(record));
      byAgent.get(agent)?.delete(rule);
      if (byAgent.get(agent)?.size === 0) byAgent.delete(agent);
      save({ agent, rule, value: null });
    },
  };
}

function isRule(rule: string): rule is Rule {
  return Object.hasOwn(topics, rule);
}

/**
 * Null for a state that can't be read, and for those of budgets and occurrences of versions before 2026-11-24: at worst
 * a percentage is alerted twice, and occurrences of one hour are not counted.
 */
function parsed(value: string | null): RecordState | null {
  try {
    return stateSchema.parse(JSON.parse(value ?? "null"));
  } catch {
    return null;
  }
}

const longest = 300;
/** Longer reasons are cut first: one may quote all output of a build. */
const mostRead = 4000;

/** Colours and moves of a terminal: ESC [ parameters and a final letter. */
const terminalCodes = new RegExp("\\u001b\\[[0-?]*[ -/]*[@-~]?", "g");
/** Line ends, control characters, and marks that turn the direction of text around. */
const notInALine = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** A text of any origin as one line of at most 300 characters; null if it is empty. */
export function reasonLine(text: string | null): string | null {
  if (text === null) return null;
  const read = text.slice(0, mostRead).replace(terminalCodes, "");
  const line = read.replace(notInALine, " ").trim();
  if (line === "") return null;
  if (line.length <= longest) return line;
  // A surrogate pair is not cut in two.
  return `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
