import type { OperatorFunction } from "rxjs";
import type { Clock } from "../clock.ts";
import type { AcquireCommand, HeldLock, LockCommand, LockEvent } from "./lock-events.ts";
import { createLockTable } from "./lock-table.ts";
import type { LockEntry } from "./lock-table.ts";
import { createLockWaiters } from "./lock-waiters.ts";
import type { LockWaiter } from "./lock-waiters.ts";
import { obeying } from "./obeying.ts";
import type { WaitGraph } from "./wait-graph.ts";

export interface LockOptions {
  readonly clock: Clock;
  /** Shared with all else that runs wait for. */
  readonly graph: WaitGraph;
  /** What is held from before. */
  readonly held: readonly HeldLock[];
  /** The highest fencing token that was ever given. */
  readonly lastToken: number;
}

/** Locks of one run: each is a timer, a row and a line in what people look at. */
export const maxLocksOfRun = 100;

/**
 * Exclusive locks with a time limit, given in the order in which they were asked for. A wait that would close a cycle
 * of waits is refused.
 *
 *     commands:  ─a1──a2──r1────────     a acquire, r release
 *     events:    ─g1──w2──(r1 g2)──x2    g granted, w waiting, x released because its time was up
 *
 * On complete and on unsubscribe: forgets everything and says nothing more; the locks are in store.
 */
export function locks(options: LockOptions): OperatorFunction<LockCommand, LockEvent> {
  return obeying(({ say, owned }) => {
    const onExpired = (entry: LockEntry): void => passOn(entry, null, "expired");
    const table = createLockTable({ ...options, owned, onExpired });
    const onTimeout = (waiter: LockWaiter): void => timeOut(waiter);
    const waiters = createLockWaiters({ ...options, owned, onTimeout });

    const acquire = (command: AcquireCommand): void => {
      const { key, resource, instanceId, ttlMs } = command;
      const entry = table.of(resource);
      if (entry === undefined && table.ofRun(instanceId).size >= maxLocksOfRun) {
        say({ type: "refused", key, why: "too_many_locks", holder: null });
      } else if (entry === undefined) {
        const lock = table.newLock(command);
        table.add(lock);
        say({ type: "granted", key, lock });
      } else if (entry.lock.instanceId === instanceId) {
        say({ type: "granted", key, lock: table.extend(entry, ttlMs) });
      } else if (command.waitMs <= 0) {
        say({ type: "refused", key, why: "held", holder: entry.lock });
      } else {
        wait(command, entry);
      }
    };
    const wait = (command: AcquireCommand, entry: LockEntry): void => {
      const { key } = command;
      const { lock: holder } = entry;
      const path = waiters.join(command, entry);
      if (path === null) say({ type: "waiting", key, holder });
      else say({ type: "refused", key, why: "deadlock", holder, path });
    };
    const timeOut = (waiter: LockWaiter): void => {
      waiters.leave(waiter);
      const { command, contended } = waiter;
      say({ type: "refused", key: command.key, why: "wait_timeout", holder: contended.lock });
    };

    /** Takes the lock from its holder and gives it to who waits longest. */
    const passOn = (
      entry: LockEntry,
      key: string | null,
      why: "released" | "expired" | "ended",
    ): void => {
      const { lock } = entry;
      const next = entry.queue.first();
      // Handed on before anybody hears of the release: who asks from within that must not overtake.
      if (next !== null) waiters.leave(next);
      table.pass(entry, next === null ? null : table.newLock(next.command));
      say({ type: "released", key, lock, why });
      if (next !== null) tellGranted(entry, next);
    };
    const tellGranted = (entry: LockEntry, { instanceId, command }: LockWaiter): void => {
      if (entry.lock.instanceId !== instanceId) return;
      say({ type: "granted", key: command.key, lock: entry.lock });
      for (const other of waiters.ofRun(instanceId)) {
        if (other.contended !== entry) continue;
        waiters.leave(other);
        const lock = table.extend(entry, other.command.ttlMs);
        say({ type: "granted", key: other.command.key, lock });
      }
    };

    const ofHolder = (
      command: Extract<LockCommand, { type: "heartbeat" | "release" }>,
      act: (entry: LockEntry) => void,
    ): void => {
      const entry = table.of(command.resource);
      if (entry !== undefined && entry.lock.instanceId === command.instanceId) return act(entry);
      const holder = entry?.lock ?? null;
      say({ type: "refused", key: command.key, why: "not_holder", holder });
    };
    const end = (instanceId: string): void => {
      // Its waits first: what it holds must not come back to it.
      for (const waiter of waiters.ofRun(instanceId)) waiters.leave(waiter);
      for (const entry of [...table.ofRun(instanceId)]) passOn(entry, null, "ended");
    };

    for (const lock of options.held) table.add(lock);

    return (command: LockCommand): void => {
      switch (command.type) {
        case "acquire":
          return acquire(command);
        case "heartbeat":
          return ofHolder(command, (entry) => {
            const lock = table.extend(entry, command.ttlMs);
            say({ type: "extended", key: command.key, lock });
          });
        case "release":
          return ofHolder(command, (entry) => passOn(entry, command.key, "released"));
        case "cancel": {
          const waiter = waiters.of(command.key);
          if (waiter !== undefined) waiters.leave(waiter);
          return;
        }
        case "ended":
          return end(command.instanceId);
      }
    };
  });
}
