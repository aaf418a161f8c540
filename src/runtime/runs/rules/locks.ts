import type { HeldLock } from "../../../foundation/contracts/run-state.ts";
import type { AcquireCommand, LockCommand, LockEvent } from "./lock-events.ts";
import { createLockTable } from "./lock-table.ts";
import type { LockEntry } from "./lock-table.ts";
import { createLockWaiters } from "./lock-waiters.ts";
import type { LockWaiter } from "./lock-waiters.ts";
import { createMachine } from "../../../../streams/machine.ts";
import type { Machine } from "../../../../streams/machine.ts";
import type { WaitGraph } from "./wait-graph.ts";

export interface LockOptions {
  /** Shared with all else that runs wait for. */
  readonly graph: WaitGraph;
  /** The locks that are held from before. */
  readonly held: readonly HeldLock[];
  /** The highest fencing token that was ever given. */
  readonly lastToken: number;
}

/** Locks of one run: each is a timer, a row and a line of the status. */
export const maxLocksOfRun = 100;

/**
 * Exclusive locks with a time limit, given in the order in which they were asked for. A wait that would close a cycle
 * of waits is refused.
 *
 *     commands:  ─a1──a2──r1────────     a acquire, r release
 *     events:    ─g1──w2──(r1 g2)──x2    g granted, w waiting, x released because its time was up
 */
export function createLocks<R>(options: LockOptions): Machine<LockCommand<R>, LockEvent<R>> {
  return createMachine(({ emit, timers, now }) => {
    const { graph, lastToken } = options;
    const onExpired = (entry: LockEntry<R>): void => passOn(entry, null, "expired");
    const table = createLockTable<R>({ timers, now, lastToken, onExpired });
    const onTimeout = (waiter: LockWaiter<R>): void => timeOut(waiter);
    const waiters = createLockWaiters<R>({ timers, now, graph, onTimeout });

    const acquire = (command: AcquireCommand<R>): void => {
      const { request, resource, instanceId, ttlMs } = command;
      const entry = table.of(resource);
      if (entry === undefined && table.ofRun(instanceId).size >= maxLocksOfRun) {
        emit({ type: "refused", request, why: "too_many_locks", holder: null });
      } else if (entry === undefined) {
        const lock = table.newLock(command);
        table.add(lock);
        emit({ type: "granted", request, lock });
      } else if (entry.lock.instanceId === instanceId) {
        emit({ type: "granted", request, lock: table.extend(entry, ttlMs) });
      } else if (command.waitMs <= 0) {
        emit({ type: "refused", request, why: "held", holder: entry.lock });
      } else {
        wait(command, entry);
      }
    };
    const wait = (command: AcquireCommand<R>, entry: LockEntry<R>): void => {
      const { request } = command;
      const { lock: holder } = entry;
      const path = waiters.join(command, entry);
      if (path === null) emit({ type: "waiting", request, holder });
      else emit({ type: "refused", request, why: "deadlock", holder, path });
    };
    const timeOut = (waiter: LockWaiter<R>): void => {
      waiters.leave(waiter);
      const { command, contended } = waiter;
      const { request } = command;
      emit({ type: "refused", request, why: "wait_timeout", holder: contended.lock });
    };

    /** Takes the lock from its holder and gives it to the one that waited longest. */
    const passOn = (
      entry: LockEntry<R>,
      request: R | null,
      why: "released" | "expired" | "ended",
    ): void => {
      const { lock } = entry;
      const next = entry.queue.first();
      if (next !== null) waiters.leave(next);
      table.pass(entry, next === null ? null : table.newLock(next.command));
      emit({ type: "released", request, lock, why });
      if (next !== null) grant(entry, next);
    };
    /** A run may wait for one lock with several requests. */
    const grant = (entry: LockEntry<R>, { instanceId, command }: LockWaiter<R>): void => {
      emit({ type: "granted", request: command.request, lock: entry.lock });
      for (const other of waiters.ofRun(instanceId)) {
        if (other.contended !== entry) continue;
        waiters.leave(other);
        const lock = table.extend(entry, other.command.ttlMs);
        emit({ type: "granted", request: other.command.request, lock });
      }
    };

    const ofHolder = (
      command: Extract<LockCommand<R>, { type: "heartbeat" | "release" }>,
      act: (entry: LockEntry<R>) => void,
    ): void => {
      const entry = table.of(command.resource);
      if (entry !== undefined && entry.lock.instanceId === command.instanceId) return act(entry);
      const holder = entry?.lock ?? null;
      emit({ type: "refused", request: command.request, why: "not_holder", holder });
    };
    const end = (instanceId: string): void => {
      // Its waits first: a lock that it holds must not come back to it.
      for (const waiter of waiters.ofRun(instanceId)) waiters.leave(waiter);
      for (const entry of [...table.ofRun(instanceId)]) passOn(entry, null, "ended");
    };

    for (const lock of options.held) table.add(lock);

    return (command: LockCommand<R>): void => {
      switch (command.type) {
        case "acquire":
          return acquire(command);
        case "heartbeat":
          return ofHolder(command, (entry) => {
            const lock = table.extend(entry, command.ttlMs);
            emit({ type: "extended", request: command.request, lock });
          });
        case "release":
          return ofHolder(command, (entry) => passOn(entry, command.request, "released"));
        case "cancel": {
          const waiter = waiters.of(command.request);
          if (waiter !== undefined) waiters.leave(waiter);
          return;
        }
        case "ended":
          return end(command.instanceId);
      }
    };
  });
}
