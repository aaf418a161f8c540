import type {
  LockStatus,
  LockStatusId,
  StatusSnapshot,
  StatusUpdate,
} from "../../../../streams/status/wire.ts";

/** What runs hold and wait for, as the stream tells it. */
export interface LockClaims {
  reset(snapshot: StatusSnapshot): void;
  /** Whether the update changed anything of it. */
  see(update: StatusUpdate): boolean;
  /** By resource. */
  all(): readonly LockStatus[];
}

/** Begins with nothing. */
export function createLockClaims(): LockClaims {
  const claims = new Map<string, LockStatus>();
  return {
    reset: ({ locks }) => {
      claims.clear();
      for (const claim of locks) claims.set(claimName(claim), claim);
    },
    see: ({ locks = [], unlocked = [] }) => {
      for (const claim of locks) claims.set(claimName(claim), claim);
      for (const id of unlocked) claims.delete(claimName(id));
      return locks.length + unlocked.length > 0;
    },
    all: () => [...claims.values()].sort((a, b) => (claimName(a) < claimName(b) ? -1 : 1)),
  };
}

/** What a claim is called among all. */
export function claimName({ resource, instanceId }: LockStatusId): string {
  return `${resource} ${instanceId}`;
}
