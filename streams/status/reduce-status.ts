import { isoTime } from "../iso-times.ts";
import type {
  AgentStatus,
  LockStatus,
  LockStatusId,
  RecentLog,
  SchedulerStatus,
  StatusList,
  StatusSnapshot,
} from "./wire.ts";
import type { LogEntry, RunEvent } from "../vocabulary.ts";
import { newRecord, toAgentStatus, type AgentRecord } from "./agent-record.ts";
import { logEntriesOf } from "./log-entries.ts";
import { reduceAgent, withoutRun } from "./reduce-agent.ts";

/** Locks that runs hold or wait for. */
export type LockStatusEvent =
  | { readonly type: "lock-status"; readonly claim: LockStatus }
  | { readonly type: "lock-status-ended"; readonly claim: LockStatusId };

/** A question of a run to people was asked, or has ended. */
export interface QuestionStatusEvent {
  readonly type: "question";
  readonly id: string;
  readonly agent: string;
  readonly instanceId: string;
  readonly isOpen: boolean;
}

/** The events that the status folds: those of agents and of the scheduler itself. */
export type StatusEvent =
  | RunEvent
  | LockStatusEvent
  | QuestionStatusEvent
  | { readonly type: "scheduler"; readonly patch: Partial<SchedulerStatus> }
  | { readonly type: "list"; readonly list: StatusList }
  | { readonly type: "scheduler-log"; readonly entry: LogEntry };

/** The changes of the last event. */
export interface StatusChange {
  readonly scheduler: boolean;
  /** The agent whose row changed or was removed. */
  readonly agent: string | null;
  readonly logs: readonly RecentLog[];
  /** The changed or ended lock claim. */
  readonly claim: LockStatusId | null;
  readonly lists: readonly StatusList[];
}

/**
 * The whole state, and the changes of the last event. The fold changes the maps in place, so that an event costs the
 * same with ten agents and with a thousand: read them at once, don't keep them.
 */
export interface Status {
  readonly scheduler: SchedulerStatus;
  readonly records: Map<string, AgentRecord>;
  /** By `claimKey`. */
  readonly claims: Map<string, LockStatus>;
  /** The latest log lines about events, oldest first. */
  readonly recentLogs: readonly RecentLog[];
  readonly change: StatusChange;
}

/** How many of the latest events the status holds. */
export const keptLogs = 20;
const longestMsg = 500;
const nothing: StatusChange = { scheduler: false, agent: null, logs: [], claim: null, lists: [] };

/** The status without any agent yet; `earlier` are lines of earlier schedulers, oldest first. */
export function initialStatus(
  scheduler: SchedulerStatus,
  earlier: readonly LogEntry[] = [],
): Status {
  const shown = earlier.filter(isEvent).slice(-keptLogs);
  const recentLogs = shown.map((entry, index) => recentLog(entry, index + 1));
  return { scheduler, records: new Map(), claims: new Map(), recentLogs, change: nothing };
}

/** (status, event) → status. `seed` gives the known facts of an agent at its first event. */
export function reduceStatus(
  status: Status,
  event: StatusEvent,
  seed: (name: string) => Partial<AgentRecord>,
): Status {
  if (event.type === "scheduler") {
    const scheduler = { ...status.scheduler, ...event.patch };
    const lists = listsIn(event.patch);
    return { ...status, scheduler, change: { ...nothing, scheduler: true, lists } };
  }
  if (event.type === "lock-status" || event.type === "lock-status-ended") {
    return claimReduced(status, event);
  }
  if (event.type === "list") return { ...status, change: { ...nothing, lists: [event.list] } };
  if (event.type === "question") return questionReduced(status, event);
  if (event.type === "scheduler-log") return withLogs(status, [event.entry], nothing);
  const [next, logs, change] = agentReduced(status, event, seed);
  const lists = historyEvents.has(event.type) ? (["triggers"] as const) : [];
  return withLogs(next, logs, { ...change, lists });
}

/** The events that add a row to the history of triggers, or change one. */
const historyEvents = new Set<RunEvent["type"]>([
  "queued",
  "refused",
  "missed",
  "taken",
  "started",
  "blocked",
  "finished",
]);

/** The lists whose counts a patch has; they are counted again after each change. */
export function listsIn(patch: Partial<SchedulerStatus>): readonly StatusList[] {
  return (["alerts", "questions"] as const).filter((list) => list in patch);
}

/** The unique name of a claim; sorted by it, claims of one resource are adjacent. */
export function claimKey({ resource, instanceId }: LockStatusId): string {
  return `${resource} ${instanceId}`;
}

function claimReduced(status: Status, event: LockStatusEvent): Status {
  const { claims, records } = status;
  const key = claimKey(event.claim);
  const before = claims.get(key);
  const after = event.type === "lock-status" ? event.claim : undefined;
  if (after !== undefined) claims.set(key, after);
  else if (!claims.delete(key)) return { ...status, change: nothing };
  const waits = waitsIn(after) - waitsIn(before);
  const record = records.get((after ?? before)?.agent ?? "");
  if (waits === 0 || record === undefined)
    return { ...status, change: { ...nothing, claim: event.claim } };
  const { instanceId } = event.claim;
  const others = withoutRun(record.lockWaits, instanceId);
  const left = (record.lockWaits.get(instanceId) ?? 0) + waits;
  const lockWaits = left > 0 ? new Map([...others, [instanceId, left]]) : others;
  records.set(record.name, { ...record, lockWaits });
  return { ...status, change: { ...nothing, agent: record.name, claim: event.claim } };
}

function questionReduced(
  status: Status,
  { id, agent, instanceId, isOpen }: QuestionStatusEvent,
): Status {
  const record = status.records.get(agent);
  if (record === undefined || record.questions.has(id) === isOpen) {
    return { ...status, change: nothing };
  }
  const questions = new Map(record.questions);
  if (isOpen) questions.set(id, instanceId);
  else questions.delete(id);
  status.records.set(agent, { ...record, questions });
  return { ...status, change: { ...nothing, agent } };
}

function waitsIn(claim: LockStatus | undefined): number {
  return claim?.held === false ? 1 : 0;
}

function agentReduced(
  status: Status,
  event: RunEvent,
  seed: (name: string) => Partial<AgentRecord>,
): [Status, readonly LogEntry[], StatusChange] {
  const { records } = status;
  const before = records.get(event.agent);
  const logs = logEntriesOf(event);
  const known = before ?? firstRecord(event, seed);
  if (known === null) return [status, logs, nothing];
  const after = reduceAgent(known, event);
  if (after === before) return [status, logs, nothing];
  const gone = after.removed && after.running === 0 && after.queued === 0;
  if (gone && before === undefined) return [status, logs, nothing];
  if (gone) records.delete(event.agent);
  else records.set(event.agent, after);
  const scheduler = counted(status.scheduler, before, gone ? undefined : after);
  const change = { ...nothing, agent: event.agent, scheduler: scheduler !== status.scheduler };
  return [{ ...status, scheduler }, logs, change];
}

/**
 * The record of an agent without a row; null if the event does not require one. A removed agent gets its row back for
 * remaining runs and work, so that the counts are right when its directory returns; its last output does not require
 * one.
 */
function firstRecord(
  event: RunEvent,
  seed: (name: string) => Partial<AgentRecord>,
): AgentRecord | null {
  const { type, agent } = event;
  const known = (): AgentRecord => ({ ...newRecord(agent), ...seed(agent) });
  if (type === "agent-set" || type === "agent-invalid") return known();
  return type === "started" || type === "queue-depth" ? { ...known(), removed: true } : null;
}

/** Updates the scheduler's counts by one agent's share, so that an event never counts all agents. */
function counted(
  scheduler: SchedulerStatus,
  before: AgentRecord | undefined,
  after: AgentRecord | undefined,
): SchedulerStatus {
  const running = (after?.running ?? 0) - (before?.running ?? 0);
  const cronJobs = cronJob(after) - cronJob(before);
  if (running === 0 && cronJobs === 0) return scheduler;
  return {
    ...scheduler,
    running: scheduler.running + running,
    cronJobs: scheduler.cronJobs + cronJobs,
  };
}

function cronJob(record: AgentRecord | undefined): number {
  return (record?.nextRunAt ?? null) === null ? 0 : 1;
}

function withLogs(status: Status, entries: readonly LogEntry[], change: StatusChange): Status {
  if (entries.length === 0) return { ...status, change };
  const last = status.recentLogs.at(-1)?.seq ?? 0;
  const shown = entries.filter(isEvent);
  const logs = shown.map((entry, index) => recentLog(entry, last + index + 1));
  const recentLogs = [...status.recentLogs, ...logs].slice(-keptLogs);
  return { ...status, recentLogs, change: { ...change, logs } };
}

/** Excludes messages, tools and output of runs, which would displace all other lines; each run has a page for them. */
function isEvent({ kind, instanceId, level }: LogEntry): boolean {
  return instanceId === undefined || kind === "run" || level >= 50;
}

function recentLog({ time, level, agent, instanceId, msg }: LogEntry, seq: number): RecentLog {
  return {
    seq,
    time: isoTime(time),
    level,
    agent,
    instanceId: instanceId ?? null,
    msg: msg.slice(0, longestMsg),
  };
}

/** The whole status in the wire's form at connect; agents by name, claims by resource. */
export function snapshotOf({ scheduler, records, recentLogs, claims }: Status): StatusSnapshot {
  const agents: AgentStatus[] = [...records.values()].map(toAgentStatus);
  agents.sort((a, b) => (a.name < b.name ? -1 : 1));
  const locks = [...claims.values()];
  locks.sort((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1));
  return { scheduler, agents, recentLogs, locks };
}
