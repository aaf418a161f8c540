import { Observable, Subject } from "rxjs";
import type { SchedulerLike, Subscription } from "rxjs";

/** One clock for everybody who waits for a moment: however many wait, a single timer is armed. */
export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** Emits the current time once `time` (epoch ms) has come, then completes; never early, always asynchronously. */
  at(time: number): Observable<number>;
  /** Emits the time when it was set back by more than an hour: what was planned by the old time is planned anew. */
  readonly setBack$: Observable<number>;
}

interface Waiter {
  readonly time: number;
  /** Position in the heap, kept up to date so that leaving costs log(n). */
  index: number;
  readonly wake: () => void;
}

/**
 * The longest that the timer sleeps, in ms. A timer past 2^31−1 ms fires at once, and a timer does not see the
 * clock being set or the machine being suspended: waking this often notices both.
 */
const maxSleepMs = 30_000;

/** A clock that is set back by less, in ms, is waited for: nothing is to come twice because of a correction. */
const smallCorrectionMs = 3_600_000;

/** A clock on the given scheduler; its waiters form a binary heap by time. */
export function createClock(scheduler: SchedulerLike): Clock {
  const heap: Waiter[] = [];
  let timer: Subscription | undefined;
  let armedFor = Infinity;
  let latest = -Infinity;
  const setBack = new Subject<number>();

  const notice = (now: number): void => {
    const isSetBack = now < latest - smallCorrectionMs;
    latest = isSetBack ? now : Math.max(latest, now);
    if (isSetBack) setBack.next(now);
  };

  const arm = (): void => {
    const next = heap[0];
    if (next === undefined || next.time >= armedFor) return;
    timer?.unsubscribe();
    armedFor = next.time;
    const sleep = Math.min(Math.max(next.time - scheduler.now(), 0), maxSleepMs);
    timer = scheduler.schedule(ring, sleep);
  };

  const ring = (): void => {
    armedFor = Infinity;
    timer = undefined;
    const now = scheduler.now();
    notice(now);
    const due: Waiter[] = [];
    for (let first = heap[0]; first !== undefined && first.time <= now; first = heap[0]) {
      removeAt(heap, 0);
      due.push(first);
    }
    for (const waiter of due) waiter.wake();
    arm();
  };

  const leave = (waiter: Waiter): void => {
    if (waiter.index >= 0) removeAt(heap, waiter.index);
    if (heap.length > 0) return;
    timer?.unsubscribe();
    timer = undefined;
    armedFor = Infinity;
  };

  return {
    now: () => scheduler.now(),
    setBack$: setBack.asObservable(),
    at: (time) =>
      new Observable<number>((subscriber) => {
        const wake = (): void => {
          subscriber.next(scheduler.now());
          subscriber.complete();
        };
        const waiter: Waiter = { time, index: heap.length, wake };
        heap.push(waiter);
        siftUp(heap, waiter);
        arm();
        return () => leave(waiter);
      }),
  };
}

function place(heap: Waiter[], waiter: Waiter, index: number): void {
  heap[index] = waiter;
  waiter.index = index;
}

function siftUp(heap: Waiter[], waiter: Waiter): void {
  let index = waiter.index;
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (parent === undefined || parent.time <= waiter.time) break;
    place(heap, parent, index);
    index = parentIndex;
  }
  place(heap, waiter, index);
}

function siftDown(heap: Waiter[], waiter: Waiter): void {
  let index = waiter.index;
  for (;;) {
    const left = heap[2 * index + 1];
    const right = heap[2 * index + 2];
    const child =
      right !== undefined && left !== undefined && right.time < left.time ? right : left;
    if (child === undefined || child.time >= waiter.time) break;
    const childIndex = child.index;
    place(heap, child, index);
    index = childIndex;
  }
  place(heap, waiter, index);
}

function removeAt(heap: Waiter[], index: number): void {
  const removed = heap[index];
  const last = heap.pop();
  if (removed === undefined || last === undefined) return;
  removed.index = -1;
  if (last === removed) return;
  place(heap, last, index);
  siftUp(heap, last);
  siftDown(heap, last);
}
