import { Observable, Subject, type SchedulerLike, type Subscription } from "rxjs";
import { createTimers } from "./timers.ts";

/** One clock for everything that waits for a moment: it arms a single timer for any number of waits. */
export interface Clock {
  /** Epoch ms. */
  now(): number;
  /** Calls back at `time` (epoch ms), never early, always asynchronously; returns how to cancel it. */
  wakeAt(time: number, callback: () => void): () => void;
  /** Emits the current time at `time` (epoch ms) and completes, like `wakeAt`. */
  at(time: number): Observable<number>;
  /** Emits the time when the clock was set back by more than an hour: plans made by the old time are renewed. */
  readonly setBack$: Observable<number>;
  /** Emits the time while the clock shows an earlier one than before, even by a second. */
  readonly earlier$: Observable<number>;
}

/**
 * The longest sleep of the timer, in ms. A timer past 2^31−1 ms fires at once, and a timer does not notice clock changes
 * or a suspended machine: waking this often notices both.
 */
const maxSleepMs = 30_000;

/** A smaller setback of the clock, in ms, is waited out: a correction must not repeat an event. */
const smallCorrectionMs = 3_600_000;
/** Clocks that are slewed differ by less, in ms. */
const jitterMs = 1_000;

/** A clock on the given scheduler. */
export function createClock(scheduler: SchedulerLike): Clock {
  const timers = createTimers();
  let timer: Subscription | undefined;
  let armedFor = Infinity;
  let latest = -Infinity;
  const setBack = new Subject<number>();
  const earlier = new Subject<number>();

  const notice = (now: number): void => {
    const isSetBack = now < latest - smallCorrectionMs;
    if (now < latest - jitterMs) earlier.next(now);
    latest = isSetBack ? now : Math.max(latest, now);
    if (isSetBack) setBack.next(now);
  };

  const arm = (): void => {
    const due = timers.nextDue();
    if (due >= armedFor) return;
    timer?.unsubscribe();
    armedFor = due;
    const now = scheduler.now();
    latest = Math.max(latest, now);
    const sleep = Math.min(Math.max(due - now, 0), maxSleepMs);
    timer = scheduler.schedule(ring, sleep);
  };

  const ring = (): void => {
    armedFor = Infinity;
    timer = undefined;
    const now = scheduler.now();
    notice(now);
    timers.fire(now);
    arm();
  };

  const disarm = (): void => {
    if (timers.nextDue() < Infinity) return;
    timer?.unsubscribe();
    timer = undefined;
    armedFor = Infinity;
  };

  const wakeAt: Clock["wakeAt"] = (time, callback) => {
    const cancel = timers.at(time, callback);
    arm();
    return () => {
      cancel();
      disarm();
    };
  };

  return {
    now: () => scheduler.now(),
    setBack$: setBack.asObservable(),
    earlier$: earlier.asObservable(),
    wakeAt,
    at: (time) =>
      new Observable<number>((subscriber) =>
        wakeAt(time, () => {
          subscriber.next(scheduler.now());
          subscriber.complete();
        }),
      ),
  };
}
