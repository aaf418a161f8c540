import { Observable, Subscription, type OperatorFunction } from "rxjs";
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
      const { slots, run, isTick, mayWait, late } = options;
      const report = (event: QueueEvent<T>): void => subscriber.next(options.report(event));
      const waiting: T[] = [];
      const subscriptions = new Subscription();
      let limits: QueueLimits = { size: Infinity, scale: 0, mode: "held" };
      let running = 0;
      let sourceDone = false;
      let pumping = false;
      let stopWaitingForSlot: (() => void) | undefined;

      // A reader who unsubscribes during a burst must not see the rest of it started, and aborted at once.
      const canStart = (): boolean =>
        limits.mode === "open" && running < limits.scale && !subscriber.closed;

      const start = (item: T, slot: Slot): void => {
        running++;
        const runSubscription = new Subscription();
        subscriptions.add(runSubscription);
        runSubscription.add(() => slot[Symbol.dispose]());
        runSubscription.add(
          run(item, slot).subscribe({
            next: (value) => subscriber.next(value),
            error: (error: unknown) => subscriber.error(error),
            complete: () => {
              running--;
              subscriptions.remove(runSubscription);
              runSubscription.unsubscribe();
              pump();
            },
          }),
        );
      };

      const pump = (): void => {
        // A run that ends at once re-enters here: the loop below takes the next item, which keeps the stack flat.
        if (pumping) return;
        pumping = true;
        const depth = waiting.length;
        while (waiting.length > 0 && canStart()) {
          const slot = slots.tryTake();
          if (slot === null) {
            stopWaitingForSlot ??= slots.wait(slotOffered);
            break;
          }
          start(waiting.shift() as T, slot);
        }
        pumping = false;
        if (waiting.length !== depth) reportDepth();
        completeIfDone();
      };

      const slotOffered = (): void => {
        stopWaitingForSlot = undefined;
        pump();
      };

      const reportDepth = (): void => report({ type: "depth", depth: waiting.length });

      const isOther = (item: T): boolean => !isTick(item);
      const dropBeyond = (size: number): void => {
        while (waiting.length > size && waiting.filter(isOther).length > size) {
          const [item] = waiting.splice(waiting.findIndex(isOther), 1) as [T];
          report({ type: "dropped", item, why: "full" });
        }
      };

      const arrive = (item: T): void => {
        const slot = waiting.length === 0 && canStart() ? slots.tryTake() : null;
        if (slot !== null) {
          start(item, slot);
        } else if (limits.mode === "closed") {
          report({ type: "dropped", item, why: "closed" });
        } else if (mayWait(item)) {
          enqueue(item);
        } else if (canStart()) {
          waitAsLatest(late(item));
        } else {
          report({ type: "skipped", item, why: limits.mode === "held" ? "held" : "busy" });
        }
      };

      /** The tick takes the turn of the one that it replaces: at the end it would never come up in a busy queue. */
      const waitAsLatest = (tick: T): void => {
        const index = waiting.findIndex(isTick);
        if (index < 0) return enqueue(tick);
        for (const item of waiting.splice(index, 1, tick)) {
          report({ type: "skipped", item, why: "replaced" });
        }
        report({ type: "queued", item: tick });
      };

      const enqueue = (item: T): void => {
        waiting.push(item);
        report({ type: "queued", item });
        dropBeyond(limits.size);
        reportDepth();
        pump();
      };

      const withdraw = ({ isMeant, why }: Withdrawal<T>): void => {
        const index = waiting.findIndex(isMeant);
        if (index < 0) return;
        for (const item of waiting.splice(index, 1)) {
          report({ type: "dropped", item, why });
        }
        reportDepth();
        completeIfDone();
      };

      const limit = (next: QueueLimits): void => {
        limits = next;
        const depth = waiting.length;
        if (next.mode !== "closed") dropBeyond(next.size);
        else for (const item of waiting.splice(0)) report({ type: "dropped", item, why: "closed" });
        if (waiting.length !== depth) reportDepth();
        pump();
      };

      const completeIfDone = (): void => {
        const nothingToStart = waiting.length === 0 || limits.mode !== "open";
        const over = limits.mode === "closed" || (sourceDone && nothingToStart);
        if (over && running === 0) subscriber.complete();
      };

      subscriptions.add(() => stopWaitingForSlot?.());
      subscriber.add(subscriptions);
      subscriptions.add(
        options.limits$.subscribe({
          next: limit,
          error: (error: unknown) => subscriber.error(error),
        }),
      );
      subscriptions.add(options.withdraw$?.subscribe(withdraw));
      subscriptions.add(
        value$.subscribe({
          next: (value) => (isItem(value) ? arrive(value) : subscriber.next(value)),
          error: (error: unknown) => subscriber.error(error),
          complete: () => {
            sourceDone = true;
            completeIfDone();
          },
        }),
      );
    });
}
