import { meets, type Wait, type Occurrence } from "../../../foundation/contracts/run-state.ts";
import { createMachine, type Machine } from "../../../../streams/machine.ts";

export type WaitCommand<W extends Wait> =
  | { readonly type: "wait"; readonly wait: W }
  | { readonly type: "cancel"; readonly key: string }
  | { readonly type: "ended"; readonly instanceId: string }
  /** The match is committed: its waits are answered. */
  | { readonly type: "delivered"; readonly match: Match<W> }
  /** The match was not committed: its waits stay open. */
  | { readonly type: "not-delivered"; readonly match: Match<W> };

export type WaitEvent<W extends Wait> =
  | { readonly type: "waiting"; readonly wait: W }
  | { readonly type: "met"; readonly wait: W; readonly match: Match<W> }
  | { readonly type: "timed-out"; readonly wait: W };

/** Waits that an occurrence meets, until it is delivered to them or not. */
export interface Match<W extends Wait> {
  readonly waits: readonly W[];
  readonly trigger: WaitTrigger;
}

/** The occurrence in the form of a wait's answer. */
type WaitTrigger = Readonly<Record<string, unknown>>;

export interface Waits<W extends Wait> extends Machine<WaitCommand<W>, WaitEvent<W>> {
  /**
   * The oldest wait of each agent that an occurrence meets. No other occurrence meets them until `delivered` or
   * `not-delivered`; null if it meets none. `trigger` is called only for a match, since a payload may be large.
   */
  readonly match: (occurrence: Occurrence, trigger: () => WaitTrigger) => Match<W> | null;
}

interface Open<W> {
  readonly wait: W;
  /** Grows with each wait: the smallest is the oldest. */
  readonly age: number;
  readonly cancelTimer: () => void;
}

/**
 * Waits of runs, which end with the first occurrence that meets them, or with their time.
 *
 *     commands:  ─w1──w2──(match)────t───     w wait, t delivered
 *     events:    ─w1──w2──────────────m1──x2   m met, x timed out
 */
export function createWaits<W extends Wait>(): Waits<W> {
  const open = new Map<string, Open<W>>();
  const matched = new Map<Match<W>, readonly Open<W>[]>();
  let count = 0;

  const forget = (key: string): void => {
    open.get(key)?.cancelTimer();
    open.delete(key);
  };
  const forgetAll = (instanceId: string): void => {
    for (const { wait } of open.values()) if (wait.instanceId === instanceId) forget(wait.key);
  };
  /** Waits of the match that ended meanwhile get no answer. */
  const withdraw = (isOver: (wait: W) => boolean): void => {
    for (const [match, waiters] of matched) {
      const left = waiters.filter(({ wait }) => !isOver(wait));
      matched.set(match, left);
    }
  };
  const settle = (match: Match<W>): readonly Open<W>[] => {
    const waiters = matched.get(match) ?? [];
    matched.delete(match);
    return waiters;
  };

  const machine = createMachine<WaitCommand<W>, WaitEvent<W>>(({ emit, timers }) => {
    const add = (wait: W, age: number): void => {
      const timeOut = (): void => {
        forget(wait.key);
        emit({ type: "timed-out", wait });
      };
      open.set(wait.key, { wait, age, cancelTimer: timers.at(wait.until, timeOut) });
    };
    return (command) => {
      switch (command.type) {
        case "wait":
          add(command.wait, ++count);
          return emit({ type: "waiting", wait: command.wait });
        case "cancel":
          forget(command.key);
          return withdraw(({ key }) => key === command.key);
        case "ended":
          forgetAll(command.instanceId);
          return withdraw(({ instanceId }) => instanceId === command.instanceId);
        case "delivered":
          for (const { wait } of settle(command.match))
            emit({ type: "met", wait, match: command.match });
          return;
        case "not-delivered":
          for (const { wait, age } of settle(command.match)) add(wait, age);
      }
    };
  });
  return {
    ...machine,
    match: (occurrence, trigger) => {
      const waiters = oldestOfEach(open.values(), occurrence);
      if (waiters.length === 0) return null;
      for (const { wait } of waiters) forget(wait.key);
      const match = { waits: waiters.map(({ wait }) => wait), trigger: trigger() };
      matched.set(match, waiters);
      return match;
    },
  };
}

/** The oldest matching wait of each agent: only one run, as the occurrence would have started one run. */
function oldestOfEach<W extends Wait>(
  open: Iterable<Open<W>>,
  occurrence: Occurrence,
): readonly Open<W>[] {
  const oldest = new Map<string, Open<W>>();
  for (const one of open) {
    const { agent, condition } = one.wait;
    if (occurrence.agent !== null && occurrence.agent !== agent) continue;
    if (one.age > (oldest.get(agent)?.age ?? Infinity)) continue;
    if (meets(occurrence, condition)) oldest.set(agent, one);
  }
  return [...oldest.values()];
}
