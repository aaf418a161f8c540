import type { OperatorFunction, Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import { meets } from "./condition.ts";
import type { Condition, Occurrence } from "./condition.ts";
import { obeying } from "./obeying.ts";

/** A run that waits for something to happen. Times are epoch ms. */
export interface Wait {
  /** Names the request; unique. */
  readonly key: string;
  readonly instanceId: string;
  readonly agent: string;
  readonly condition: Condition;
  readonly since: number;
  /** When it has waited long enough. */
  readonly until: number;
  /** How long it was to wait, in ms, where that is longer than it may; else absent. */
  readonly askedMs?: number;
}

export type WaitCommand =
  | { readonly type: "wait"; readonly wait: Wait }
  | { readonly type: "cancel"; readonly key: string }
  | { readonly type: "ended"; readonly instanceId: string }
  /** Something is about to be committed. `offered` follows at once. */
  | { readonly type: "offer"; readonly id: string; readonly occurrence: Occurrence }
  /** It was committed that those it was offered to take it. */
  | { readonly type: "taken"; readonly id: string }
  /** It was not committed: they wait on. */
  | { readonly type: "not-taken"; readonly id: string };

export type WaitEvent =
  | { readonly type: "waiting"; readonly wait: Wait }
  /** Nobody else is offered to them until it is told whether they took this. */
  | { readonly type: "offered"; readonly id: string; readonly to: readonly Wait[] }
  | { readonly type: "met"; readonly id: string; readonly wait: Wait }
  | { readonly type: "timed-out"; readonly wait: Wait };

interface Open {
  readonly wait: Wait;
  /** Grows with each wait: the smallest is the oldest. */
  readonly age: number;
  readonly timer: Subscription;
}

/**
 * Waits of runs, and what ends them: the oldest wait of each agent that what happens meets takes it, or its time.
 *
 *     commands:  ─w1──w2──o──────────t───     w wait, o offer, t taken
 *     events:    ─w1──w2──o(1)───────m1──x2   m met, x timed out
 *
 * On complete and on unsubscribe: forgets everything and says nothing more; the waits are in store.
 */
export function waits(clock: Clock): OperatorFunction<WaitCommand, WaitEvent> {
  return obeying(({ say, owned }) => {
    const open = new Map<string, Open>();
    const offered = new Map<string, readonly Open[]>();
    let count = 0;

    const add = (wait: Wait, age: number): void => {
      const timeOut = (): void => {
        forget(wait.key);
        say({ type: "timed-out", wait });
      };
      const timer = owned(clock.at(wait.until).subscribe(timeOut));
      open.set(wait.key, { wait, age, timer });
    };
    const forget = (key: string): void => {
      open.get(key)?.timer.unsubscribe();
      open.delete(key);
    };
    const forgetAll = (instanceId: string): void => {
      for (const { wait } of open.values()) if (wait.instanceId === instanceId) forget(wait.key);
    };
    /** What was offered to them and is not taken is none of theirs any more. */
    const withdraw = (isOver: (wait: Wait) => boolean): void => {
      for (const [id, takers] of offered) {
        const left = takers.filter(({ wait }) => !isOver(wait));
        offered.set(id, left);
      }
    };

    const offer = (id: string, occurrence: Occurrence): void => {
      const takers = oldestOfEach(open.values(), occurrence);
      for (const { wait } of takers) forget(wait.key);
      if (takers.length > 0) offered.set(id, takers);
      say({ type: "offered", id, to: takers.map(({ wait }) => wait) });
    };
    const settle = (id: string, each: (taker: Open) => void): void => {
      const takers = offered.get(id) ?? [];
      offered.delete(id);
      for (const taker of takers) each(taker);
    };

    return (command: WaitCommand): void => {
      switch (command.type) {
        case "wait":
          add(command.wait, ++count);
          return say({ type: "waiting", wait: command.wait });
        case "cancel":
          forget(command.key);
          return withdraw(({ key }) => key === command.key);
        case "ended":
          forgetAll(command.instanceId);
          return withdraw(({ instanceId }) => instanceId === command.instanceId);
        case "offer":
          return offer(command.id, command.occurrence);
        case "taken":
          return settle(command.id, ({ wait }) => say({ type: "met", id: command.id, wait }));
        case "not-taken":
          return settle(command.id, ({ wait, age }) => add(wait, age));
      }
    };
  });
}

/** One run of each agent, as one run is what the occurrence would have started. */
function oldestOfEach(open: Iterable<Open>, occurrence: Occurrence): Open[] {
  const oldest = new Map<string, Open>();
  for (const one of open) {
    const { agent, condition } = one.wait;
    if (occurrence.agent !== null && occurrence.agent !== agent) continue;
    if (one.age > (oldest.get(agent)?.age ?? Infinity)) continue;
    if (meets(occurrence, condition)) oldest.set(agent, one);
  }
  return [...oldest.values()];
}
