import { setTimeout as wait } from "node:timers/promises";
import { firstValueFrom, merge, NEVER, Subject, type Observable } from "rxjs";
import type { TargetAnswer } from "./rules/alert.ts";
import { messageOf } from "../../foundation/errors.ts";
import { attempt, type AttemptDeps } from "./attempt.ts";
import { createPace, type Pace } from "./pace.ts";

export interface SenderDeps extends Omit<AttemptDeps, "persist" | "random"> {
  /** From 0 to 1. */
  readonly random?: () => number;
  /** How long close() waits for attempts and for the store, in ms. */
  readonly closeMs?: number;
}

/** How long after a failure of the store it is asked again, in ms. */
const storeRetryMs = 30_000;
/** The longest pause that a target may ask for, in ms; it holds for all its deliveries. */
const maxRestMs = 3_600_000;
/** How often a target whose alerts are held is looked at, in ms. */
const heldMs = 5_000;
/** Deliveries that are read at a time, and the most in one digest. */
const mostDue = 1_000;

/**
 * Sends the outbox: one delivery at a time to each target, and all targets in parallel, so that a target that hangs
 * delays only itself. A target gets five messages a minute; further alerts wait, and are one digest.
 */
export function createSender(deps: SenderDeps) {
  const { store, clock, warn, closeMs = 20_000 } = deps;
  const woken = new Subject<void>();
  const closing = new Subject<void>();
  const attempted = new Subject<string>();
  const workers = new Map<string, Promise<void>>();
  const startedAt = clock.now();
  let isClosing = false;

  /** Sleeps until a moment (epoch ms), close(), or an emission of one of the others. */
  const sleep = async (until: number, ...others: Observable<unknown>[]): Promise<void> => {
    if (isClosing) return;
    const moment = until === Infinity ? NEVER : clock.at(until);
    await firstValueFrom(merge(moment, clock.setBack$, closing, ...others), { defaultValue: null });
  };
  const pause = (): Promise<void> => sleep(clock.now() + storeRetryMs);

  const persist = async (write: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        warn(`the end of an alert's delivery can't be stored: ${messageOf(error)}`);
        // The next scheduler sends it again, with the same id.
        if (isClosing) return;
        await pause();
      }
    }
  };

  const attempts: AttemptDeps = { ...deps, random: deps.random ?? Math.random, persist };

  /** Returns when the target may be asked next, epoch ms. */
  const step = async (name: string, pace: Pace): Promise<number> => {
    const now = clock.now();
    const [oldest, ...others] = await store.due(name, now, mostDue);
    if (oldest === undefined) {
      await sleep(store.nextAt(name) ?? Infinity, woken);
      return 0;
    }
    const delivery = await pace.choose([oldest, ...others]);
    // Meanwhile a delivery that failed may be due again.
    if (delivery === undefined) return Math.min(pace.freeAt(), now + heldMs);
    const answer = await attempt(attempts, delivery);
    if (answer.type !== "gone") pace.sent(delivery);
    attempted.next(name);
    return clock.now() + restMs(answer);
  };

  const work = async (name: string): Promise<void> => {
    const pace = createPace(store, clock, startedAt);
    while (!isClosing) {
      try {
        const next = await step(name, pace);
        if (next > clock.now()) await sleep(next);
      } catch (error) {
        warn(`alerts to ${name} can't be sent: ${messageOf(error)}`);
        await pause();
      }
    }
  };

  const wake = (): void => {
    if (isClosing) return;
    woken.next();
    try {
      for (const name of store.waitingTargets()) {
        if (!workers.has(name)) workers.set(name, work(name));
      }
    } catch (error) {
      warn(`alerts can't be sent: ${messageOf(error)}`);
      void pause().then(wake);
    }
  };

  return {
    /** Deliveries were stored, one is to be retried, or the targets changed. The first call starts the sender. */
    wake,
    /** The name of a target, each time that an attempt was recorded. */
    attempted$: attempted.asObservable(),
    /**
     * Begins no more attempts; resolves when those on their way, of at most 15 s, are recorded. It does not wait for a
     * store that rejects writes: the next scheduler sends such a delivery again, with the same id.
     */
    close: async (): Promise<void> => {
      isClosing = true;
      closing.next();
      const over = new AbortController();
      const late = wait(closeMs, null, { signal: over.signal }).catch(() => null);
      await Promise.race([Promise.all(workers.values()), late]);
      over.abort();
      attempted.complete();
    },
  };
}

function restMs(answer: TargetAnswer): number {
  return answer.type === "failed" ? Math.min(answer.afterMs ?? 0, maxRestMs) : 0;
}
