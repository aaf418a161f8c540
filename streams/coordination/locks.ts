import { Subscription } from "rxjs";
import type { OperatorFunction } from "rxjs";
import type { Clock } from "../clock.ts";
import type { HeldLock, LockCommand, LockEvent } from "./lock-events.ts";
import { createLockQueue, otherAhead } from "./lock-queue.ts";
import type { LockQueue, QueuedWaiter } from "./lock-queue.ts";
import { obeying } from "./obeying.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";
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

type Acquire = Extract<LockCommand, { type: "acquire" }>;

interface Waiter extends QueuedWaiter {
  readonly command: Acquire;
  /** Its timer and its place in the graph of waits. */
  readonly wait: Subscription;
}

interface Entry {
  lock: HeldLock;
  readonly queue: LockQueue<Waiter>;
  expiry: Subscription;
}

/**
 * Exclusive locks with a time limit, given in the order in which they were asked for. A wait that would close a circle
 * of waits is refused.
 *
 *     commands:  ─a1──a2──r1────────     a acquire, r release
 *     events:    ─g1──w2──(r1 g2)──x2    g granted, w waiting, x released because its time was up
 *
 * On complete and on unsubscribe: forgets everything and says nothing more; the locks are in store.
 */
export function locks(options: LockOptions): OperatorFunction<LockCommand, LockEvent> {
  return obeying(({ say, owned }) => {
    const { clock, graph } = options;
    const entries = new Map<string, Entry>();
    const heldBy = new Map<string, Set<Entry>>();
    const waiters = new Map<string, Waiter>();
    const waitersOf = new Map<string, Set<Waiter>>();
    let lastToken = options.lastToken;

    const timer = (time: number, ring: () => void): Subscription =>
      owned(clock.at(time).subscribe(ring));
    const setExpiry = (entry: Entry): void => {
      entry.expiry.unsubscribe();
      entry.expiry = timer(entry.lock.expiresAt, () => passOn(entry, null, "expired"));
    };

    const hold = (lock: HeldLock): HeldLock => {
      const entry: Entry = { lock, queue: createLockQueue(), expiry: Subscription.EMPTY };
      entries.set(lock.resource, entry);
      addTo(heldBy, lock.instanceId, entry);
      setExpiry(entry);
      return lock;
    };
    const extend = (entry: Entry, ttlMs: number): HeldLock => {
      const expiresAt = Math.max(entry.lock.expiresAt, clock.now() + ttlMs);
      entry.lock = { ...entry.lock, expiresAt };
      setExpiry(entry);
      return entry.lock;
    };
    const newLock = ({ resource, agent, instanceId, ttlMs }: Acquire): HeldLock => {
      const heldSince = clock.now();
      const owner = { resource, agent, instanceId };
      return { ...owner, fencingToken: ++lastToken, heldSince, expiresAt: heldSince + ttlMs };
    };

    /** Takes the lock from its holder and gives it to who waits longest. */
    const passOn = (
      entry: Entry,
      key: string | null,
      why: "released" | "expired" | "ended",
    ): void => {
      const { lock } = entry;
      removeFrom(heldBy, lock.instanceId, entry);
      const next = entry.queue.first();
      // Handed on before anybody hears of the release: who asks from within that must not overtake.
      if (next === null) drop(entry);
      else hand(entry, next);
      say({ type: "released", key, lock, why });
      if (next !== null) tellGranted(entry, next);
    };
    const drop = (entry: Entry): void => {
      entry.expiry.unsubscribe();
      entries.delete(entry.lock.resource);
    };
    const hand = (entry: Entry, next: Waiter): void => {
      stopWaiting(next, entry.queue);
      entry.lock = newLock(next.command);
      addTo(heldBy, next.instanceId, entry);
      setExpiry(entry);
    };
    const tellGranted = (entry: Entry, { instanceId, command }: Waiter): void => {
      if (entry.lock.instanceId !== instanceId) return;
      say({ type: "granted", key: command.key, lock: entry.lock });
      for (const other of [...(waitersOf.get(instanceId) ?? [])]) {
        if (other.command.resource !== command.resource) continue;
        stopWaiting(other, entry.queue);
        const lock = extend(entry, other.command.ttlMs);
        say({ type: "granted", key: other.command.key, lock });
      }
    };

    const stopWaiting = (waiter: Waiter, queue: LockQueue<Waiter>): void => {
      const { key, instanceId } = waiter.command;
      queue.leave(waiter);
      waiter.wait.unsubscribe();
      waiters.delete(key);
      removeFrom(waitersOf, instanceId, waiter);
    };
    const giveUp = (waiter: Waiter): Entry | undefined => {
      const entry = entries.get(waiter.command.resource);
      if (entry !== undefined) stopWaiting(waiter, entry.queue);
      return entry;
    };

    const acquire = (command: Acquire): void => {
      const { key, resource, instanceId, ttlMs } = command;
      const entry = entries.get(resource);
      if (entry === undefined && (heldBy.get(instanceId)?.size ?? 0) >= maxLocksOfRun) {
        say({ type: "refused", key, why: "too_many_locks", holder: null });
      } else if (entry === undefined) {
        say({ type: "granted", key, lock: hold(newLock(command)) });
      } else if (entry.lock.instanceId === instanceId) {
        say({ type: "granted", key, lock: extend(entry, ttlMs) });
      } else if (command.waitMs <= 0) {
        say({ type: "refused", key, why: "held", holder: entry.lock });
      } else {
        wait(command, entry);
      }
    };
    const wait = (command: Acquire, entry: Entry): void => {
      const { key, instanceId, resource, waitMs } = command;
      const waiter: Waiter = {
        ...{ command, instanceId, ahead: null, behind: null },
        wait: owned(new Subscription()),
      };
      entry.queue.join(waiter);
      const waitsFor = (): string[] => {
        const holder = entries.get(resource)?.lock.instanceId;
        return [holder, otherAhead(waiter)].filter((id) => id !== null && id !== undefined);
      };
      const holder = entry.lock;
      const path = graph.circle(instanceId, waitsFor);
      if (path !== null) {
        stopWaiting(waiter, entry.queue);
        say({ type: "refused", key, why: "deadlock", holder, path });
        return;
      }
      waiter.wait.add(graph.add(instanceId, waitsFor));
      waiter.wait.add(timer(clock.now() + waitMs, () => timeOut(waiter)));
      waiters.set(key, waiter);
      addTo(waitersOf, instanceId, waiter);
      say({ type: "waiting", key, holder });
    };
    const timeOut = (waiter: Waiter): void => {
      const entry = giveUp(waiter);
      if (entry === undefined) return;
      const { key } = waiter.command;
      say({ type: "refused", key, why: "wait_timeout", holder: entry.lock });
    };

    const ofHolder = (
      command: Extract<LockCommand, { type: "heartbeat" | "release" }>,
      act: (entry: Entry) => void,
    ): void => {
      const entry = entries.get(command.resource);
      if (entry !== undefined && entry.lock.instanceId === command.instanceId) return act(entry);
      const holder = entry?.lock ?? null;
      say({ type: "refused", key: command.key, why: "not_holder", holder });
    };
    const end = (instanceId: string): void => {
      // Its waits first: what it holds must not come back to it.
      for (const waiter of [...(waitersOf.get(instanceId) ?? [])]) giveUp(waiter);
      for (const entry of [...(heldBy.get(instanceId) ?? [])]) passOn(entry, null, "ended");
    };

    for (const lock of options.held) hold(lock);

    return (command: LockCommand): void => {
      switch (command.type) {
        case "acquire":
          return acquire(command);
        case "heartbeat":
          return ofHolder(command, (entry) => {
            const lock = extend(entry, command.ttlMs);
            say({ type: "extended", key: command.key, lock });
          });
        case "release":
          return ofHolder(command, (entry) => passOn(entry, command.key, "released"));
        case "cancel": {
          const waiter = waiters.get(command.key);
          if (waiter !== undefined) giveUp(waiter);
          return;
        }
        case "ended":
          return end(command.instanceId);
      }
    };
  });
}
