import type {
  AgentStatus,
  LockStatusId,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";

const mostLogs = 20;

/** The status after an update. Lists that it does not change stay the same objects. */
export function applyUpdate(now: StatusSnapshot, update: StatusUpdate): StatusSnapshot {
  const { agents = [], removed = [], logs = [], locks = [], unlocked = [] } = update;
  // A snapshot may have lines that the next update brings again.
  const lastSeq = now.recentLogs.at(-1)?.seq ?? 0;
  const fresh = logs.filter(({ seq }) => seq > lastSeq);
  return {
    scheduler: update.scheduler ?? now.scheduler,
    agents: replaced(now.agents, agents, removed, ({ name }) => name),
    locks: replaced(now.locks, locks, unlocked.map(lockKey), lockKey),
    recentLogs:
      fresh.length === 0 ? now.recentLogs : [...now.recentLogs, ...fresh].slice(-mostLogs),
  };
}

/**
 * The agents that an update changes, each with whether it changes their spending. A log line that no run wrote is mostly
 * about a change to the agent's files, and so to its limits.
 */
export function changedAgents(
  { agents = [], logs = [] }: StatusUpdate,
  now: StatusSnapshot | null,
): ReadonlyMap<string, boolean> {
  const spendingOf = (row?: AgentStatus): string =>
    JSON.stringify([row?.running, row?.runningUsd, row?.spentToday, row?.usedBudget]);
  const known = (name: string) => now?.agents.find((row) => row.name === name);
  const changed = new Map(
    agents.map((row) => [row.name, spendingOf(row) !== spendingOf(known(row.name))]),
  );
  for (const { agent, instanceId } of logs)
    if (instanceId === null && agent !== "scheduler") changed.set(agent, true);
  return changed;
}

/** Names one run's hold of, or wait for, one resource. */
export function lockKey({ resource, instanceId }: LockStatusId): string {
  return `${resource} ${instanceId}`;
}

function replaced<Row>(
  rows: readonly Row[],
  changed: readonly Row[],
  removed: readonly string[],
  keyOf: (row: Row) => string,
): readonly Row[] {
  if (changed.length + removed.length === 0) return rows;
  const next = new Map([...rows, ...changed].map((row) => [keyOf(row), row]));
  for (const key of removed) next.delete(key);
  return [...next.values()];
}
