import { setTimeout as wait } from "node:timers/promises";
import { firstValueFrom, merge, NEVER, Subject } from "rxjs";
import type { Observable } from "rxjs";
import type { AlertTarget } from "../../../streams/alert-options.ts";
import type { StoredDelivery } from "../../foundation/contracts/alert.ts";
import type { Clock } from "../../../streams/clock.ts";
import type {
  AlertMessage,
  AlertStore,
  SendAlert,
  TargetAnswer,
} from "../../foundation/contracts/alerts.ts";
import { messageOf } from "../../foundation/errors.ts";
import { attempt } from "./attempt.ts";
import type { AttemptDeps } from "./attempt.ts";

export interface SenderDeps {
  readonly store: Pick<
    AlertStore,
    "due" | "nextAt" | "waitingTargets" | "attempted" | "switchOff" | "switchedOff"
  >;
  /** The targets of the active config. */
  readonly targets: () => readonly AlertTarget[];
  readonly message: (delivery: StoredDelivery) => AlertMessage;
  readonly send: SendAlert;
  readonly clock: Pick<Clock, "now" | "at" | "setBack$">;
  readonly onProblem: (message: string) => void;
  /** From 0 to 1. */
  readonly random?: () => number;
  /** How long its end waits for attempts and for the store, in ms. */
  readonly closeMs?: number;
}

export interface AlertSender {
  /** Deliveries were stored, one is to be retried, or the targets have changed. The first call starts it. */
  readonly wake: () => void;
  /** The name of a target, each time that an attempt was recorded. */
  readonly attempted$: Observable<string>;
  /**
   * Begins no more attempts; resolves once those on their way, of at most 15 s, are recorded. A store that takes no writes is
   * not waited for: what was sent meanwhile is sent once more by the next scheduler, with the same id.
   */
  readonly close: () => Promise<void>;
}

/** How long after a failure of the store it is asked again, in ms. */
const storeRetryMs = 30_000;
/** A target that asks for a rest gets it for all its deliveries, for this long at most, in ms. */
const maxRestMs = 3_600_000;

/**
 * Sends the outbox: one delivery at a time to each target, and the targets beside each other, so that one that hangs
 * delays only itself.
 */
export function createSender(deps: SenderDeps): AlertSender {
  const { store, clock, onProblem, closeMs = 20_000 } = deps;
  const woken = new Subject<void>();
  const closing = new Subject<void>();
  const attempted = new Subject<string>();
  const workers = new Map<string, Promise<void>>();
  let isClosing = false;

  /** Until a moment, epoch ms, or the end; or until one of the others emits. */
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
        onProblem(`the end of an alert's delivery can't be stored: ${messageOf(error)}`);
        // It is sent once more by the next scheduler, with the same id.
        if (isClosing) return;
        await pause();
      }
    }
  };

  const attempts: AttemptDeps = {
    store,
    targets: deps.targets,
    message: deps.message,
    send: deps.send,
    now: clock.now,
    random: deps.random ?? Math.random,
    warn: onProblem,
    persist,
  };

  /** Returns when the target may be asked next, epoch ms. */
  const step = async (name: string): Promise<number> => {
    const [delivery] = await store.due(name, clock.now(), 1);
    if (delivery === undefined) {
      await sleep(store.nextAt(name) ?? Infinity, woken);
      return 0;
    }
    const answer = await attempt(attempts, delivery);
    attempted.next(name);
    return clock.now() + restMs(answer);
  };

  const work = async (name: string): Promise<void> => {
    while (!isClosing) {
      try {
        const next = await step(name);
        if (next > clock.now()) await sleep(next);
      } catch (error) {
        onProblem(`alerts to ${name} can't be sent: ${messageOf(error)}`);
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
      onProblem(`alerts can't be sent: ${messageOf(error)}`);
      void pause().then(wake);
    }
  };

  return {
    wake,
    attempted$: attempted.asObservable(),
    close: async () => {
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
