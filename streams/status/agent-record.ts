import { isoTime } from "../iso-times.ts";
import { isError, outcomeText, type Outcome } from "../outcomes.ts";
import type { AgentState, AgentStatus } from "./wire.ts";
import { problemSummary } from "../problem-text.ts";
import type { AgentConfig } from "../agent-config.ts";
import { defaultRuntime } from "../runtimes.ts";
import type { DaySpend, UsedBudget } from "../spending.ts";
import type { AgentGathering, Diagnostic } from "../vocabulary.ts";

export interface Configured {
  /** Null until there was a valid one. */
  readonly config: AgentConfig | null;
}

export interface ConfiguredAgent extends Configured {
  readonly name: string;
}

/** The record of one agent, the source of its row. Times are epoch ms. */
export interface AgentRecord extends ConfiguredAgent {
  readonly enabled: boolean;
  /** The agent's directory was removed; the row is removed once nothing runs. */
  readonly removed: boolean;
  readonly building: boolean;
  readonly configError: string | null;
  /** Missing requirements of its runs: an error stops them, a warning does not. */
  readonly unmet: readonly Diagnostic[];
  readonly buildError: string | null;
  readonly runError: string | null;
  readonly statusText: string | null;
  readonly running: number;
  /** Number of locks each of its runs waits for, by instance id; without runs that wait for none. */
  readonly lockWaits: ReadonlyMap<string, number>;
  /** The instance ids of its runs that wait for money. */
  readonly moneyWaits: ReadonlySet<string>;
  /** The instance ids of its runs with an open question to people, by the questions' ids. */
  readonly questions: ReadonlyMap<string, string>;
  /** Why the machine can't start claimed runs, by instance id. */
  readonly blocked: ReadonlyMap<string, string>;
  readonly queued: number;
  /** Null without deliveries that gather. */
  readonly gathering: AgentGathering | null;
  readonly lastRunAt: number | null;
  readonly lastDurationMs: number | null;
  readonly lastOutcome: Outcome | null;
  readonly nextRunAt: number | null;
  /** Spending of the running runs that called a model, US dollars by instance id. */
  readonly runCosts: ReadonlyMap<string, number>;
  readonly today: DaySpend | null;
  /** The used-up budget that keeps runs of the agent from starting. */
  readonly usedBudget: UsedBudget | null;
}

const noCosts: AgentRecord["runCosts"] = new Map();
const noReasons: AgentRecord["blocked"] = new Map();
const noWaits: AgentRecord["lockWaits"] = new Map();
const noMoneyWaits: AgentRecord["moneyWaits"] = new Set();
const noQuestions: AgentRecord["questions"] = new Map();

/** An agent before its first event. */
export function newRecord(name: string): AgentRecord {
  return {
    name,
    config: null,
    enabled: true,
    removed: false,
    building: false,
    configError: null,
    unmet: [],
    buildError: null,
    runError: null,
    statusText: null,
    running: 0,
    lockWaits: noWaits,
    moneyWaits: noMoneyWaits,
    questions: noQuestions,
    blocked: noReasons,
    queued: 0,
    gathering: null,
    lastRunAt: null,
    lastDurationMs: null,
    lastOutcome: null,
    nextRunAt: null,
    runCosts: noCosts,
    today: null,
    usedBudget: null,
  };
}

/** An agent's last run under an earlier scheduler. Times are epoch ms; `endedAt` is null for a lost one. */
export interface EarlierRun {
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly outcome: Outcome;
  readonly reason: string | null;
}

/** The fields that must survive a restart. */
export function withEarlierRun(run: EarlierRun): Partial<AgentRecord> {
  return {
    lastRunAt: run.startedAt,
    lastDurationMs: run.endedAt === null ? null : run.endedAt - run.startedAt,
    lastOutcome: run.outcome,
    runError: runErrorOf(run),
  };
}

/** A run's end as an error; null for a success, and for an end requested by a person. */
export function runErrorOf(end: {
  readonly outcome: Outcome;
  readonly reason: string | null;
}): string | null {
  if (!isError(end.outcome)) return null;
  const outcome = outcomeText(end.outcome);
  return end.reason === null ? outcome : `${outcome}: ${end.reason}`;
}

type Obstacle = Pick<AgentStatus, "state" | "blockedBy">;

/**
 * The state column: building, else blocked by the machine, else running or waiting, else why no run starts, else idle. A
 * failure other than of a budget comes before a used budget: money does not fix it.
 */
export function stateOf(record: AgentRecord): Obstacle {
  const { building, blocked, running, lockWaits, moneyWaits, questions } = record;
  if (building) return state("building");
  if (blocked.size > 0) return state("blocked", "machine");
  if (running === 0) return stateWithoutRuns(record);
  const waits = new Set([...lockWaits.keys(), ...moneyWaits, ...questions.values()]);
  if (waits.size < running) return state("running");
  if (questions.size > 0) return state("waiting", "person");
  return state("waiting", moneyWaits.size > 0 ? "budget" : "lock");
}

function stateWithoutRuns(record: AgentRecord): Obstacle {
  const { configError, unmet, buildError, usedBudget, runError } = record;
  if (configError !== null) return state("error");
  if (unmetError(unmet) !== null) return state("blocked", "requirement");
  if (buildError !== null) return state("blocked", "image");
  const isFailed = runError !== null && !runError.startsWith("over budget");
  if (usedBudget === null || isFailed) return state(runError === null ? "idle" : "error");
  return state(usedBudget.onLimit === "pause" ? "waiting" : "blocked", "budget");
}

function state(name: AgentState, blockedBy: Obstacle["blockedBy"] = null): Obstacle {
  return { state: name, blockedBy };
}

/**
 * The current error; one about the config hides the others, because it is the one to fix first. That of an earlier run
 * is shown only while none runs: a run has a row of its own, and its end decides whether the error stays.
 */
function errorOf(record: AgentRecord): string | null {
  const { configError, unmet, buildError, running, runError } = record;
  const blocked = blockedError(record);
  return (
    configError ?? unmetError(unmet) ?? buildError ?? blocked ?? (running > 0 ? null : runError)
  );
}

/** Why the machine can't start any run now; null if it can. */
export function blockedError({ blocked }: AgentRecord): string | null {
  const [reason] = blocked.values();
  return reason === undefined ? null : `the machine can't start its runs now: ${reason}`;
}

/** Why no run can start; null if no requirement prevents it. */
export function unmetError(unmet: AgentRecord["unmet"]): string | null {
  return problemSummary(unmet.filter(({ severity }) => severity === "error"));
}

function unmetWarning(unmet: AgentRecord["unmet"]): string | null {
  return problemSummary(unmet.filter(({ severity }) => severity === "warning"));
}

/** The row of the dashboard. */
export function toAgentStatus(record: AgentRecord): AgentStatus {
  const config = configColumns(record);
  return {
    name: record.name,
    ...config,
    ...stateOf(record),
    statusText: record.statusText,
    error: errorOf(record),
    warning: unmetWarning(record.unmet),
    enabled: record.enabled && record.config?.scale !== 0,
    lastRunAt: isoTime(record.lastRunAt),
    lastDurationMs: record.lastDurationMs,
    lastOutcome: record.lastOutcome,
    nextRunAt: isoTime(record.nextRunAt),
    running: record.running,
    runningUsd: totalOf(record.runCosts),
    spentToday: withTime(record.today),
    usedBudget: withTime(record.usedBudget),
    queued: record.queued,
    ...(record.gathering && { gathering: gatheringStatus(record.gathering) }),
  };
}

function gatheringStatus({ deliveries, startsAt }: AgentGathering) {
  return { deliveries, startsAt: isoTime(startsAt) };
}

function withTime<Budget extends DaySpend>(budget: Budget | null) {
  return budget && { ...budget, endsAt: isoTime(budget.endsAt) };
}

function totalOf(costs: AgentRecord["runCosts"]): number | null {
  return costs.size === 0 ? null : [...costs.values()].reduce((sum, usd) => sum + usd, 0);
}

type ConfigColumns = Pick<
  AgentStatus,
  | "title"
  | "description"
  | "license"
  | "scale"
  | "queueSize"
  | "triggers"
  | "tags"
  | "runtime"
  | "models"
>;

function configColumns({ name, config }: AgentRecord): ConfigColumns {
  if (config === null) return { ...unknownConfig, title: name };
  return {
    title: config.title,
    description: config.description,
    license: config.license,
    scale: config.scale,
    queueSize: config.queueSize,
    triggers: triggerLabels(config),
    tags: config.tags,
    runtime: config.runtime.type,
    models: config.models.map((model) => model.name),
  };
}

const unknownConfig: Omit<ConfigColumns, "title"> = {
  description: null,
  license: null,
  scale: 0,
  queueSize: 0,
  triggers: [],
  tags: [],
  runtime: defaultRuntime,
  models: [],
};

function triggerLabels({ schedule, webhooks, callable }: AgentConfig): string[] {
  const ticks = schedule === null ? [] : [`schedule ${schedule}`];
  const sources = new Set(webhooks.map(({ source }) => `webhook ${source}`));
  return [...ticks, ...sources, ...(callable ? ["call"] : [])];
}
