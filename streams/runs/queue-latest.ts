import { Observable, Subscription, type OperatorFunction, type Subscriber } from "rxjs";
import type { Slot, Slots } from "./slots.ts";

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
}

export interface QueueOptions<T, R> {
  /** Each value applies at once; nothing starts before the first. */
  readonly limits$: Observable<QueueLimits>;
  /** Shared with the other agents. */
  readonly slots: Slots;
  /** Cold; must not error: a failed run is a value. */
  readonly run: (item: T, slot: Slot) => Observable<R>;
  /** Other values pass through unchanged, in order. By default all values are items. */
  readonly isItem?: (value: T | R) => value is T;
  /** Ticks wait beside the other items: neither takes the other's place. */
  readonly isTick: (item: T) => boolean;
  /**
   * Whether an item may wait for anything. A tick that may not waits for the project's slots alone, in place of an earlier
   * tick that waits; it is skipped while the queue is held or all of its own runners are busy.
   */
  readonly mayWait: (item: T) => boolean;
  /** Marks a tick that waits for the project's slots. */
  readonly late: (item: T) => T;
  /** Removes the first waiting item that matches; a running one is left alone. */
  readonly withdraw$?: Observable<Withdrawal<T>>;
  /** Maps an event of the queue itself to an output. */
  readonly report: (event: QueueEvent<T>) => R;
}

export interface Withdrawal<T> {
  readonly isMeant: (item: T) => boolean;
  /** The item's caller cancelled it, or a live run takes it. */
  readonly why: "withdrawn" | "taken";
}

export type DropReason = "full" | "closed" | Withdrawal<unknown>["why"];

export type QueueEvent<T> =
  | { readonly type: "queued"; readonly item: T }
  | { readonly type: "dropped"; readonly item: T; readonly why: DropReason }
  | { readonly type: "skipped"; readonly item: T; readonly why: "busy" | "held" | "replaced" }
  | { readonly type: "depth"; readonly depth: number };

/**
 * Runs `scale` items at once and keeps the latest `size` others waiting, in order; when a newcomer finds the queue
 * full, the oldest is dropped and reported.
 *
 *     items:  ─a──b──c──d───────────|        size 1, scale 1; q queued, x dropped, A ran a
 *     out:    ─A1─qb─(qc xb)(qd xc)──A2──D1──D2|
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
      const queue = createQueue(options, subscriber, (item, slot) => {
        const runSubscription = new Subscription();
        subscriptions.add(runSubscription);
        runSubscription.add(() => slot[Symbol.dispose]());
        runSubscription.add(
          options.run(item, slot).subscribe({
            next: (value) => subscriber.next(value),
            error: fail,
            complete: () => {
              queue.ended();
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
  start: (item: T, slot: Slot) => void,
) {
  const { slots, isTick, mayWait, late } = options;
  const report = (event: QueueEvent<T>): void => subscriber.next(options.report(event));
  const waiting = createWaiting(report, isTick);
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
    start(item, slot);
  };

  const pump = (): void => {
    // A run that ends at once re-enters here: the loop below takes the next item, which keeps the stack flat.
    if (pumping) return;
    pumping = true;
    const depth = items.length;
    while (items.length > 0 && canStart()) {
      const slot = slots.tryTake();
      if (slot === null) {
        stopWaitingForSlot ??= slots.wait(slotOffered);
        break;
      }
      begin(items.shift() as T, slot);
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
    waiting.add(item, limits.size);
    pump();
  };

  const completeIfDone = (): void => {
    const nothingToStart = items.length === 0 || limits.mode !== "open";
    const over = limits.mode === "closed" || (sourceDone && nothingToStart);
    if (over && running === 0) subscriber.complete();
  };

  return {
    arrive: (item: T): void => {
      const slot = items.length === 0 && canStart() ? slots.tryTake() : null;
      if (slot !== null) {
        begin(item, slot);
      } else if (limits.mode === "closed") {
        report({ type: "dropped", item, why: "closed" });
      } else if (mayWait(item)) {
        enqueue(item);
      } else if (canStart()) {
        const tick = late(item);
        if (!waiting.replaceTick(tick)) enqueue(tick);
      } else {
        report({ type: "skipped", item, why: limits.mode === "held" ? "held" : "busy" });
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
    ended: (): void => void running--,
    pump,
    /** No more items come. */
    end: (): void => {
      sourceDone = true;
      completeIfDone();
    },
    stop: (): void => stopWaitingForSlot?.(),
  };
}

/** The waiting items, in order. Each change is reported. */
function createWaiting<T>(report: (event: QueueEvent<T>) => void, isTick: (item: T) => boolean) {
  const items: T[] = [];
  const isOther = (item: T): boolean => !isTick(item);
  const reportDepth = (): void => report({ type: "depth", depth: items.length });
  const drop = (index: number, count: number, why: DropReason): void => {
    for (const item of items.splice(index, count)) report({ type: "dropped", item, why });
  };
  const dropBeyond = (size: number): void => {
    while (items.length > size && items.filter(isOther).length > size) {
      drop(items.findIndex(isOther), 1, "full");
    }
  };
  return {
    items,
    reportDepth,
    add: (item: T, size: number): void => {
      items.push(item);
      report({ type: "queued", item });
      dropBeyond(size);
      reportDepth();
    },
    /** The tick takes the turn of the one that it replaces: at the end it would never come up in a busy queue. False if none waits. */
    replaceTick: (tick: T): boolean => {
      const index = items.findIndex(isTick);
      if (index < 0) return false;
      for (const item of items.splice(index, 1, tick)) {
        report({ type: "skipped", item, why: "replaced" });
      }
      report({ type: "queued", item: tick });
      return true;
    },
    withdraw: ({ isMeant, why }: Withdrawal<T>): void => {
      const index = items.findIndex(isMeant);
      if (index < 0) return;
      drop(index, 1, why);
      reportDepth();
    },
    limit: ({ mode, size }: QueueLimits): void => {
      const depth = items.length;
      if (mode === "closed") drop(0, depth, "closed");
      else dropBeyond(size);
      if (items.length !== depth) reportDepth();
    },
  };
}
