import { Observable, Subscription, type OperatorFunction, type Subscriber } from "rxjs";
import { createKeyedRuns, type Keyed, type KeyedRun, type KeyRules } from "./keyed-runs.ts";
import type { Slot, Slots } from "./slots.ts";
import { createWaiting, type QueueEvent } from "./waiting-items.ts";
import type { WaitingOptions, Withdrawal } from "./waiting-items.ts";

/**
 * `open` starts work, `held` keeps it waiting (agent disabled, directory briefly gone, scheduler draining), `closed`
 * drops waiting items and completes after the last run.
 */
export type QueueMode = "open" | "held" | "closed";

export interface QueueLimits {
  /** How many items may wait. */
  readonly size: number;
  /** How many may run at once. */
  readonly scale: number;
  readonly mode: QueueMode;
  /** Rules for work with the same key; absent without keys. */
  readonly keys?: KeyRules;
  /** Present if work with the same session key runs one after the other. */
  readonly hasSessions?: true;
  /** Present if a tick waits while all of its agent's runners are busy; it is skipped otherwise. */
  readonly ticksWait?: true;
}

export interface QueueOptions<T, R> extends WaitingOptions<T> {
  /** Each value applies at once; nothing starts before the first. */
  readonly limits$: Observable<QueueLimits>;
  /** Shared with the other agents. */
  readonly slots: Slots;
  /** Cold; must not error: a failed run is a value. `keyed` is null for an item without a key. */
  readonly run: (item: T, slot: Slot, keyed: KeyedRun | null) => Observable<R>;
  /** Other values pass through unchanged, in order. By default all values are items. */
  readonly isItem?: (value: T | R) => value is T;
  /**
   * Whether an item may wait for anything. A tick that may not waits for the project's slots, in place of an earlier tick
   * of its schedule; it is skipped while the queue is held, or all of its own runners are busy unless `ticksWait`.
   */
  readonly mayWait: (item: T) => boolean;
  /** Marks a tick that waits for the project's slots, or for its agent's own runners. */
  readonly late: (item: T, why: "slots" | "busy") => T;
  /** The key of an item, null without one, and live runs that the queue did not start. Absent without keys. */
  readonly keyed?: (item: T) => Keyed | null;
  readonly beside?: () => Iterable<KeyedRun>;
  /** The session key of an item, undefined without one, and those of live runs that the queue did not start. */
  readonly sessionOf?: (item: T) => string | undefined;
  readonly sessionsBeside?: () => readonly string[];
  /** Removes the first waiting item that matches; a running one is left alone. */
  readonly withdraw$?: Observable<Withdrawal<T>>;
  /** Maps an event of the queue itself to an output. */
  readonly report: (event: QueueEvent<T>) => R;
}

/**
 * Runs `scale` items at once and keeps the latest `size` others waiting, in order; when a newcomer finds the queue
 * full, the oldest is dropped and reported.
 *
 *     items:  ─a──b──c──d───────────|        size 1, scale 1; q queued, x dropped, A ran a
 *     out:    ─A1─qb─(qc xb)(qd xc)──A2──D1──D2|
 *
 * An item whose key has as many live runs as its limit, or whose session key has one, is passed over until one ends.
 *
 * On complete: runs the waiting items, then completes; while held it leaves them (their owner has them in store).
 * On unsubscribe: aborts the running items.
 */
export function queueLatest<T, R>(options: QueueOptions<T, R>): OperatorFunction<T | R, R> {
  const isItem = options.isItem ?? ((value: T | R): value is T => value !== undefined);
  return (value$) =>
    new Observable((subscriber) => {
      const subscriptions = new Subscription();
      const fail = (error: unknown): void => subscriber.error(error);
      const queue = createQueue(options, subscriber, (item, slot, keyed) => {
        const runSubscription = new Subscription();
        subscriptions.add(runSubscription);
        runSubscription.add(() => slot[Symbol.dispose]());
        runSubscription.add(
          options.run(item, slot, keyed).subscribe({
            next: (value) => subscriber.next(value),
            error: fail,
            complete: () => {
              queue.ended(item, keyed);
              subscriptions.remove(runSubscription);
              runSubscription.unsubscribe();
              queue.pump();
            },
          }),
        );
      });

      subscriptions.add(queue.stop);
      subscriber.add(subscriptions);
      subscriptions.add(options.limits$.subscribe({ next: queue.limit, error: fail }));
      subscriptions.add(options.withdraw$?.subscribe(queue.withdraw));
      subscriptions.add(
        value$.subscribe({
          next: (value) => (isItem(value) ? queue.arrive(value) : subscriber.next(value)),
          error: fail,
          complete: queue.end,
        }),
      );
    });
}

/** Decides which items start and which wait. `start` subscribes to the run of an item. */
function createQueue<T, R>(
  options: QueueOptions<T, R>,
  subscriber: Subscriber<R>,
  start: (item: T, slot: Slot, keyed: KeyedRun | null) => void,
) {
  const { slots, mayWait, late, keyed: keyedOf = () => null } = options;
  const { sessionOf = () => undefined, sessionsBeside = () => [] } = options;
  const report = (event: QueueEvent<T>): void => subscriber.next(options.report(event));
  const waiting = createWaiting(report, options);
  const runs = createKeyedRuns(options.beside ?? (() => []));
  /** The session keys of its live runs. */
  const sessions: string[] = [];
  const { items } = waiting;
  let limits: QueueLimits = { size: Infinity, scale: 0, mode: "held" };
  let running = 0;
  let sourceDone = false;
  let pumping = false;
  let stopWaitingForSlot: (() => void) | undefined;

  // A reader who unsubscribes during a burst must not see the rest of it started, and aborted at once.
  const canStart = (): boolean =>
    limits.mode === "open" && running < limits.scale && !subscriber.closed;

  const begin = (item: T, slot: Slot): void => {
    running++;
    const [keyed, session] = [keyedOf(item), sessionOf(item)];
    if (session !== undefined) sessions.push(session);
    start(item, slot, keyed && runs.enter(keyed));
  };

  const isSessionBusy = (item: T): boolean => {
    const session = limits.hasSessions === true ? sessionOf(item) : undefined;
    return session !== undefined && [...sessions, ...sessionsBeside()].includes(session);
  };

  const isKeyBusy = (item: T): boolean => {
    if (isSessionBusy(item)) return true;
    const keyed = limits.keys && keyedOf(item);
    return limits.keys !== undefined && keyed != null && runs.isBusy(keyed, limits.keys);
  };

  const hasKeys = (): boolean => limits.keys !== undefined || limits.hasSessions === true;

  const firstFree = (): number => (hasKeys() ? items.findIndex((item) => !isKeyBusy(item)) : 0);

  /** Whether no waiting item could start before one that comes. */
  const isNext = (): boolean =>
    items.length === 0 || (hasKeys() && !pumping && stopWaitingForSlot === undefined);

  const pump = (): void => {
    // A run that ends at once re-enters here: the loop below takes the next item, which keeps the stack flat.
    if (pumping) return;
    pumping = true;
    const depth = items.length;
    while (items.length > 0 && canStart()) {
      const index = firstFree();
      if (index < 0) break;
      const slot = slots.tryTake();
      if (slot === null) {
        stopWaitingForSlot ??= slots.wait(slotOffered);
        break;
      }
      // The first one is removed without moving the others.
      begin((index === 0 ? items.shift() : items.splice(index, 1)[0]) as T, slot);
    }
    pumping = false;
    if (items.length !== depth) waiting.reportDepth();
    completeIfDone();
  };

  const slotOffered = (): void => {
    stopWaitingForSlot = undefined;
    pump();
  };

  const enqueue = (item: T): void => {
    const keyed = limits.keys && keyedOf(item);
    if (limits.keys === undefined || keyed == null) waiting.add(item, limits.size);
    else enqueueKeyed(item, keyed, limits.keys);
    pump();
  };

  const enqueueKeyed = (item: T, keyed: Keyed, rules: KeyRules): void => {
    const isSame = (other: T): boolean => keyedOf(other)?.key === keyed.key;
    const same = items.filter(isSame).flatMap((other) => keyedOf(other) ?? []);
    const { yieldsTo, isReplacing, ends } = runs.effectOf(keyed, same, rules);
    if (yieldsTo !== null) return report({ type: "superseded", item, by: yieldsTo });
    if (isReplacing && same.length > 0) waiting.supersede(isSame, item, keyed.id);
    else waiting.add(item, limits.size);
    if (ends === null) return;
    report({ type: "ending", itemId: ends.id, by: keyed.id });
    // Last: a run may end at once, and the queue goes on within this call.
    ends.supersededBy$.next(keyed.id);
  };

  const waitForTurn = (tick: T): void => {
    // Newer work of its key supersedes the earlier one, since a run may be ending for that.
    const isKeyed = (limits.keys?.onNew ?? "wait") !== "wait" && keyedOf(tick) !== null;
    if (!isKeyed && waiting.replaceTick(tick)) pump();
    else enqueue(tick);
  };

  /** A tick that may wait only for some reasons. */
  const arriveAsTick = (tick: T, isBusy: boolean): void => {
    if (canStart() && !isBusy) return waitForTurn(late(tick, "slots"));
    const isOpen = limits.mode === "open";
    if (isOpen && limits.ticksWait === true) return waitForTurn(late(tick, "busy"));
    const busy = isBusy && canStart() ? "key" : "busy";
    report({ type: "skipped", item: tick, why: limits.mode === "held" ? "held" : busy });
  };

  const completeIfDone = (): void => {
    const nothingToStart = items.length === 0 || limits.mode !== "open";
    const over = limits.mode === "closed" || (sourceDone && nothingToStart);
    if (over && running === 0) subscriber.complete();
  };

  return {
    arrive: (item: T): void => {
      const isBusy = isKeyBusy(item);
      const slot = canStart() && !isBusy && isNext() ? slots.tryTake() : null;
      if (slot !== null) {
        begin(item, slot);
      } else if (limits.mode === "closed") {
        report({ type: "dropped", item, why: "closed" });
      } else if (mayWait(item)) {
        enqueue(item);
      } else {
        arriveAsTick(item, isBusy);
      }
    },
    limit: (next: QueueLimits): void => {
      limits = next;
      waiting.limit(next);
      pump();
    },
    withdraw: (withdrawal: Withdrawal<T>): void => {
      waiting.withdraw(withdrawal);
      completeIfDone();
    },
    /** A run has ended; `pump` follows once its slot is free. */
    ended: (item: T, keyed: KeyedRun | null): void => {
      running--;
      const session = sessionOf(item);
      if (session !== undefined) sessions.splice(sessions.indexOf(session), 1);
      if (keyed !== null) runs.leave(keyed);
    },
    pump,
    /** No more items come. */
    end: (): void => {
      sourceDone = true;
      completeIfDone();
    },
    stop: (): void => stopWaitingForSlot?.(),
  };
}
