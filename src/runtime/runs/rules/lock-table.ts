import type { HeldLock } from "../../../foundation/contracts/run-state.ts";
import type { AcquireCommand } from "./lock-events.ts";
import { createLockQueue } from "./lock-queue.ts";
import type { ContendedLock } from "./lock-waiters.ts";
import type { MachineContext } from "../../../../streams/machine.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";

/** A lock that is held, and its queue. */
export interface LockEntry<R> extends ContendedLock<R> {
  lock: HeldLock;
  /** Cancels the timer of its `expiresAt`. */
  cancelExpiry: () => void;
}

/** The locks that are held, each with a timer that runs until it is passed, extended or removed. */
export interface LockTable<R> {
  of(resource: string): LockEntry<R> | undefined;
  ofRun(instanceId: string): ReadonlySet<LockEntry<R>>;
  /** Adds a lock of a resource that was free. */
  add(lock: HeldLock): void;
  /** A lock for the run that acquires it, from now on, with a fencing token above all before. */
  newLock(command: AcquireCommand<R>): HeldLock;
  /** Moves the end of the lock to `ttlMs` from now, never to earlier. */
  extend(entry: LockEntry<R>, ttlMs: number): HeldLock;
  /** Passes the lock to another holder; null frees the resource. */
  pass(entry: LockEntry<R>, next: HeldLock | null): void;
}

export interface LockTableDeps<R> extends Pick<MachineContext<never>, "timers" | "now"> {
  /** The highest fencing token that was ever given. */
  readonly lastToken: number;
  /** The time of a lock is up; it is held until it is passed on. */
  readonly onExpired: (entry: LockEntry<R>) => void;
}

/** A table without locks. */
export function createLockTable<R>(deps: LockTableDeps<R>): LockTable<R> {
  const { timers, now, onExpired } = deps;
  const entries = new Map<string, LockEntry<R>>();
  const heldBy = new Map<string, Set<LockEntry<R>>>();
  let { lastToken } = deps;

  const setExpiry = (entry: LockEntry<R>): void => {
    entry.cancelExpiry();
    entry.cancelExpiry = timers.at(entry.lock.expiresAt, () => onExpired(entry));
  };
  const hold = (entry: LockEntry<R>): void => {
    addTo(heldBy, entry.lock.instanceId, entry);
    setExpiry(entry);
  };
  return {
    of: (resource) => entries.get(resource),
    ofRun: (instanceId) => heldBy.get(instanceId) ?? new Set(),
    add: (lock) => {
      const cancelExpiry = (): void => undefined;
      const entry: LockEntry<R> = { lock, queue: createLockQueue(), cancelExpiry };
      entries.set(lock.resource, entry);
      hold(entry);
    },
    newLock: ({ resource, agent, instanceId, ttlMs }) => {
      const heldSince = now();
      const expiresAt = heldSince + ttlMs;
      const fencingToken = ++lastToken;
      return { resource, agent, instanceId, fencingToken, heldSince, expiresAt };
    },
    extend: (entry, ttlMs) => {
      const expiresAt = Math.max(entry.lock.expiresAt, now() + ttlMs);
      entry.lock = { ...entry.lock, expiresAt };
      setExpiry(entry);
      return entry.lock;
    },
    pass: (entry, next) => {
      const { resource, instanceId } = entry.lock;
      removeFrom(heldBy, instanceId, entry);
      if (next === null) {
        entry.cancelExpiry();
        entries.delete(resource);
      } else {
        entry.lock = next;
        hold(entry);
      }
    },
  };
}
