import { Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import type { AcquireCommand, HeldLock } from "./lock-events.ts";
import { createLockQueue } from "./lock-queue.ts";
import type { ContendedLock } from "./lock-waiters.ts";
import type { Obedience } from "./obeying.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";

/** A lock that is held, and who waits for it. */
export interface LockEntry extends ContendedLock {
  lock: HeldLock;
  /** The timer of its `expiresAt`. */
  expiry: Subscription;
}

/** The locks that are held, each with a timer that runs until it is given, extended or removed. */
export interface LockTable {
  of(resource: string): LockEntry | undefined;
  ofRun(instanceId: string): ReadonlySet<LockEntry>;
  /** Holds a lock that nobody held. */
  add(lock: HeldLock): void;
  /** A lock for who asks for it, from now on, with a fencing token above all before. */
  newLock(command: AcquireCommand): HeldLock;
  /** Moves the end of the lock to `ttlMs` from now, never to earlier. */
  extend(entry: LockEntry, ttlMs: number): HeldLock;
  /** Passes the lock to another holder; without one nobody holds it any more. */
  pass(entry: LockEntry, next: HeldLock | null): void;
}

export interface LockTableDeps extends Pick<Obedience<never>, "owned"> {
  readonly clock: Clock;
  /** The highest fencing token that was ever given. */
  readonly lastToken: number;
  /** The time of a lock is up; it is held until it is passed on. */
  readonly onExpired: (entry: LockEntry) => void;
}

const nobody: ReadonlySet<LockEntry> = new Set();

/** A table without locks. */
export function createLockTable({ clock, owned, onExpired, ...from }: LockTableDeps): LockTable {
  const entries = new Map<string, LockEntry>();
  const heldBy = new Map<string, Set<LockEntry>>();
  let { lastToken } = from;

  const setExpiry = (entry: LockEntry): void => {
    entry.expiry.unsubscribe();
    const expired$ = clock.at(entry.lock.expiresAt);
    entry.expiry = owned(expired$.subscribe(() => onExpired(entry)));
  };
  const hold = (entry: LockEntry): void => {
    addTo(heldBy, entry.lock.instanceId, entry);
    setExpiry(entry);
  };
  return {
    of: (resource) => entries.get(resource),
    ofRun: (instanceId) => heldBy.get(instanceId) ?? nobody,
    add: (lock) => {
      const entry: LockEntry = { lock, queue: createLockQueue(), expiry: Subscription.EMPTY };
      entries.set(lock.resource, entry);
      hold(entry);
    },
    newLock: ({ resource, agent, instanceId, ttlMs }) => {
      const heldSince = clock.now();
      const owner = { resource, agent, instanceId };
      return { ...owner, fencingToken: ++lastToken, heldSince, expiresAt: heldSince + ttlMs };
    },
    extend: (entry, ttlMs) => {
      const expiresAt = Math.max(entry.lock.expiresAt, clock.now() + ttlMs);
      entry.lock = { ...entry.lock, expiresAt };
      setExpiry(entry);
      return entry.lock;
    },
    pass: (entry, next) => {
      const { resource, instanceId } = entry.lock;
      removeFrom(heldBy, instanceId, entry);
      if (next === null) {
        entry.expiry.unsubscribe();
        entries.delete(resource);
      } else {
        entry.lock = next;
        hold(entry);
      }
    },
  };
}
