import type { HeldLock } from "../../../foundation/contracts/run-state.ts";
import {
  createMachine,
  type Machine,
  type MachineClock,
  type MachineContext,
} from "../../../../streams/machine.ts";
import type { WaitGraph } from "./wait-graph.ts";
import { createWaiters } from "./waiters.ts";

interface AcquireCommand<R> {
  readonly type: "acquire";
  readonly request: R;
  readonly resource: string;
  readonly agent: string;
  readonly instanceId: string;
  /** How long the lock is held at most, in ms. */
  readonly ttlMs: number;
  /** How long to wait for the lock, in ms; 0 for not at all. */
  readonly waitMs: number;
}

/** Commands to the locks. `R` is the request of a run, as named by the events that answer it. */
export type LockCommand<R> =
  | AcquireCommand<R>
  | {
      readonly type: "heartbeat";
      readonly request: R;
      readonly resource: string;
      readonly instanceId: string;
      readonly ttlMs: number;
    }
  | {
      readonly type: "release";
      readonly request: R;
      readonly resource: string;
      readonly instanceId: string;
    }
  /** The run cancelled its `acquire`. */
  | { readonly type: "cancel"; readonly request: R }
  | { readonly type: "ended"; readonly instanceId: string };

export type LockEvent<R> =
  /** A new holder, or the old one again. */
  | { readonly type: "granted"; readonly request: R; readonly lock: HeldLock }
  | { readonly type: "extended"; readonly request: R; readonly lock: HeldLock }
  | {
      readonly type: "released";
      /** The request to release; null if the lock expired or its run ended. */
      readonly request: R | null;
      readonly lock: HeldLock;
      readonly why: "released" | "expired" | "ended";
    }
  | { readonly type: "waiting"; readonly request: R; readonly holder: HeldLock }
  | ({ readonly type: "refused"; readonly request: R } & LockRefusal);

export type LockRefusal =
  | { readonly why: "held" | "wait_timeout"; readonly holder: HeldLock }
  /** `path` goes from the requesting run back to itself. */
  | { readonly why: "deadlock"; readonly holder: HeldLock; readonly path: readonly string[] }
  /** `holder` is null if the resource is free. */
  | { readonly why: "not_holder"; readonly holder: HeldLock | null }
  /** The resource is free, but the run holds the maximum of other locks. */
  | { readonly why: "too_many_locks"; readonly holder: null };

export interface LockOptions {
  /** Shared with all other kinds of waits. */
  readonly graph: WaitGraph;
  /** The locks held from before. */
  readonly held: readonly HeldLock[];
  /** The highest fencing token given so far. */
  readonly lastToken: number;
}

/** A held lock, and the requests that wait for it, first come first served. */
interface LockEntry<R> {
  lock: HeldLock;
  readonly queue: LockWaiter<R>[];
  /** Cancels the timer of its `expiresAt`. */
  cancelExpiry: () => void;
}

interface LockWaiter<R> {
  readonly request: R;
  readonly instanceId: string;
  readonly command: AcquireCommand<R>;
  readonly entry: LockEntry<R>;
  /** The waiter before it in the queue. */
  ahead: LockWaiter<R> | null;
}

/** Limit of locks of one run: each is a timer, a row and a line of the status. */
export const maxLocksOfRun = 100;

/**
 * Exclusive locks with a time limit, given in the order in which they were asked for. A wait that would close a cycle
 * of waits is refused.
 *
 *     commands:  ─a1──a2──r1────────     a acquire, r release
 *     events:    ─g1──w2──(r1 g2)──x2    g granted, w waiting, x released because its time was up
 */
export function createLocks<R>(options: LockOptions): Machine<LockCommand<R>, LockEvent<R>> {
  return createMachine((context) => {
    const { emit, now } = context;
    const { of, ofRun, join, leave } = createLockWaiters<R>(options.graph, context);
    const table = createLockTable<R>(context, options.lastToken, (entry) =>
      passOn(entry, null, "expired"),
    );
    const { entries, setLock, add, newLock, extend, heldBy } = table;

    const acquire = (command: AcquireCommand<R>): void => {
      const { request, resource, instanceId, ttlMs } = command;
      const entry = entries.get(resource);
      if (entry === undefined && heldBy(instanceId).length >= maxLocksOfRun) {
        emit({ type: "refused", request, why: "too_many_locks", holder: null });
      } else if (entry === undefined) {
        const lock = newLock(command);
        add(lock);
        emit({ type: "granted", request, lock });
      } else if (entry.lock.instanceId === instanceId) {
        emit({ type: "granted", request, lock: extend(entry, ttlMs) });
      } else if (command.waitMs <= 0) {
        emit({ type: "refused", request, why: "held", holder: entry.lock });
      } else {
        wait(command, entry);
      }
    };
    const wait = (command: AcquireCommand<R>, entry: LockEntry<R>): void => {
      const { request, instanceId, waitMs } = command;
      const { lock: holder, queue } = entry;
      const ahead = queue.at(-1) ?? null;
      const waiter: LockWaiter<R> = { request, instanceId, command, entry, ahead };
      queue.push(waiter);
      const path = join(waiter, now() + waitMs, () => waitedFor(waiter));
      if (path === null) return emit({ type: "waiting", request, holder });
      queue.pop();
      emit({ type: "refused", request, why: "deadlock", holder, path });
    };

    /** Takes the lock from its holder and gives it to the longest waiting request. */
    const passOn = (
      entry: LockEntry<R>,
      request: R | null,
      why: "released" | "expired" | "ended",
    ): void => {
      const { lock } = entry;
      const [next] = entry.queue;
      if (next === undefined) {
        entry.cancelExpiry();
        entries.delete(lock.resource);
        return emit({ type: "released", request, lock, why });
      }
      leave(next);
      setLock(entry, newLock(next.command));
      emit({ type: "released", request, lock, why });
      emit({ type: "granted", request: next.request, lock: entry.lock });
      // A run may wait for one lock with several requests.
      for (const other of ofRun(next.instanceId)) {
        if (other.entry !== entry) continue;
        leave(other);
        const { ttlMs } = other.command;
        emit({ type: "granted", request: other.request, lock: extend(entry, ttlMs) });
      }
    };

    const ofHolder = (
      command: Extract<LockCommand<R>, { type: "heartbeat" | "release" }>,
      act: (entry: LockEntry<R>) => void,
    ): void => {
      const entry = entries.get(command.resource);
      if (entry !== undefined && entry.lock.instanceId === command.instanceId) return act(entry);
      const holder = entry?.lock ?? null;
      emit({ type: "refused", request: command.request, why: "not_holder", holder });
    };

    options.held.forEach(add);

    return (command: LockCommand<R>): void => {
      switch (command.type) {
        case "acquire":
          return acquire(command);
        case "heartbeat":
          return ofHolder(command, (entry) => {
            const lock = extend(entry, command.ttlMs);
            emit({ type: "extended", request: command.request, lock });
          });
        case "release":
          return ofHolder(command, (entry) => passOn(entry, command.request, "released"));
        case "cancel": {
          const waiter = of(command.request);
          if (waiter !== undefined) leave(waiter);
          return;
        }
        case "ended":
          // The run's waits end first: a lock that it holds must not return to it.
          ofRun(command.instanceId).forEach(leave);
          for (const entry of heldBy(command.instanceId)) passOn(entry, null, "ended");
      }
    };
  });
}

/** The held locks, each with the timer of its end. */
function createLockTable<R>(
  { timers, now }: MachineClock,
  lastToken: number,
  onExpired: (entry: LockEntry<R>) => void,
) {
  const entries = new Map<string, LockEntry<R>>();
  const setLock = (entry: LockEntry<R>, lock: HeldLock): void => {
    entry.lock = lock;
    entry.cancelExpiry();
    entry.cancelExpiry = timers.at(lock.expiresAt, () => onExpired(entry));
  };
  const add = (lock: HeldLock): void => {
    const entry: LockEntry<R> = { lock, queue: [], cancelExpiry: () => undefined };
    entries.set(lock.resource, entry);
    setLock(entry, lock);
  };
  /** A new lock, with a fencing token above all earlier ones. */
  const newLock = ({ resource, agent, instanceId, ttlMs }: AcquireCommand<R>): HeldLock => {
    const heldSince = now();
    const fencingToken = ++lastToken;
    return { resource, agent, instanceId, fencingToken, heldSince, expiresAt: heldSince + ttlMs };
  };
  /** Moves the end of the lock to `ttlMs` from now, never to earlier. */
  const extend = (entry: LockEntry<R>, ttlMs: number): HeldLock => {
    const expiresAt = Math.max(entry.lock.expiresAt, now() + ttlMs);
    setLock(entry, { ...entry.lock, expiresAt });
    return entry.lock;
  };
  const heldBy = (instanceId: string): readonly LockEntry<R>[] =>
    [...entries.values()].filter(({ lock }) => lock.instanceId === instanceId);
  return { entries, setLock, add, newLock, extend, heldBy };
}

/** The requests that wait in the queues of locks. */
function createLockWaiters<R>(graph: WaitGraph, { emit, timers }: MachineContext<LockEvent<R>>) {
  const waiters = createWaiters<R, LockWaiter<R>>(graph, timers, (waiter) => {
    const { request, entry } = waiter;
    leave(waiter);
    emit({ type: "refused", request, why: "wait_timeout", holder: entry.lock });
  });
  const leave = (waiter: LockWaiter<R>): void => {
    const { queue } = waiter.entry;
    const place = queue.indexOf(waiter);
    const behind = queue[place + 1];
    if (behind !== undefined) behind.ahead = waiter.ahead;
    queue.splice(place, 1);
    waiters.leave(waiter);
  };
  return { ...waiters, leave };
}

/** The holder, and the nearest other run ahead: no run waits for itself. */
function waitedFor<R>(waiter: LockWaiter<R>): readonly string[] {
  const { lock } = waiter.entry;
  let { ahead } = waiter;
  while (ahead?.instanceId === waiter.instanceId) ahead = ahead.ahead;
  return ahead === null ? [lock.instanceId] : [lock.instanceId, ahead.instanceId];
}
