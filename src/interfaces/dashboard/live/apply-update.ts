import type {
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
