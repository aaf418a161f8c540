import type {
  LockStatus,
  LockStatusId,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";

/** What runs hold and wait for, kept from the status stream. */
export interface LockStatuses {
  reset(snapshot: StatusSnapshot): void;
  /** Returns whether the update changed any. */
  apply(update: StatusUpdate): boolean;
  /** By resource. */
  all(): readonly LockStatus[];
}

/** Begins with nothing. */
export function createLockStatuses(): LockStatuses {
  const statuses = new Map<string, LockStatus>();
  const set = (changed: readonly LockStatus[]): void => {
    for (const status of changed) statuses.set(lockKey(status), status);
  };
  return {
    reset: ({ locks }) => {
      statuses.clear();
      set(locks);
    },
    apply: ({ locks = [], unlocked = [] }) => {
      set(locks);
      for (const id of unlocked) statuses.delete(lockKey(id));
      return locks.length + unlocked.length > 0;
    },
    all: () => [...statuses.values()].sort((a, b) => (lockKey(a) < lockKey(b) ? -1 : 1)),
  };
}

/** Names one run's hold of, or wait for, one resource. */
export function lockKey({ resource, instanceId }: LockStatusId): string {
  return `${resource} ${instanceId}`;
}
