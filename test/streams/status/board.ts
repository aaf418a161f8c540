import { claimKey } from "../../../streams/status/reduce-status.ts";
import type {
  LockStatus,
  RecentLog,
  SchedulerStatus,
  StatusSnapshot,
  StatusUpdate,
} from "../../../streams/status/wire.ts";

/** A scheduler with nothing to do. */
export const schedulerStatus: SchedulerStatus = {
  paused: false,
  pausedWork: false,
  pausedAt: null,
  draining: false,
  startedAt: "1970-01-01T00:00:00.000Z",
  version: "0.1.0",
  project: "hello",
  gatewayUrl: null,
  running: 0,
  cronJobs: 0,
  webhookSources: [],
  error: null,
  warnings: [],
  alerts: { open: 0, dead: 0 },
  questions: 0,
};

/** Counts how often one entry is asked for or set, and refuses to be gone through. */
export class CountingMap<T> extends Map<string, T> {
  touched = 0;

  override get(key: string): T | undefined {
    this.touched++;
    return super.get(key);
  }

  override set(key: string, value: T): this {
    this.touched++;
    return super.set(key, value);
  }

  override [Symbol.iterator](): never {
    throw new Error("an event must not look at every agent");
  }

  override values(): never {
    return this[Symbol.iterator]();
  }

  override entries(): never {
    return this[Symbol.iterator]();
  }

  override keys(): never {
    return this[Symbol.iterator]();
  }

  override forEach(): never {
    return this[Symbol.iterator]();
  }
}

/** What a page does with an update: rows by name, the scheduler's row, and the last twenty lines. */
export function clientFold(snapshot: StatusSnapshot, update: StatusUpdate): StatusSnapshot {
  const rows = new Map(snapshot.agents.map((agent) => [agent.name, agent]));
  for (const agent of update.agents ?? []) rows.set(agent.name, agent);
  for (const name of update.removed ?? []) rows.delete(name);
  const agents = [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const scheduler = update.scheduler ?? snapshot.scheduler;
  const recentLogs = linesAfter(snapshot.recentLogs, update.logs ?? []);
  return { scheduler, agents, recentLogs, locks: locksAfter(snapshot.locks, update) };
}

/** A line that the snapshot had already is not shown twice. */
function linesAfter(known: readonly RecentLog[], more: readonly RecentLog[]): RecentLog[] {
  const last = known.at(-1)?.seq ?? 0;
  return [...known, ...more.filter(({ seq }) => seq > last)].slice(-20);
}

function locksAfter(
  known: readonly LockStatus[],
  { locks = [], unlocked = [] }: StatusUpdate,
): LockStatus[] {
  const claims = new Map(known.map((claim) => [claimKey(claim), claim]));
  for (const claim of locks) claims.set(claimKey(claim), claim);
  for (const id of unlocked) claims.delete(claimKey(id));
  return [...claims.values()].sort((a, b) => (claimKey(a) < claimKey(b) ? -1 : 1));
}
