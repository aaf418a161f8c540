import { Subscription } from "rxjs";
import type { Clock } from "./clock.ts";
import { createTimers } from "./timers.ts";
import type { Timers } from "./timers.ts";

/** A state machine without a clock. Times are epoch ms. */
export interface Machine<C, E> {
  /** Applies a command; returns its events, in order. */
  apply(command: C, now: number): readonly E[];
  /** Does what is due by now; returns its events, in order. */
  elapse(now: number): readonly E[];
  /** When to call `elapse` next; Infinity for never. */
  nextDue(): number;
}

/** What a state machine is made with. */
export interface MachineContext<E> {
  readonly emit: (event: E) => void;
  readonly timers: Pick<Timers, "at">;
  /** The moment of the command that is applied, epoch ms. */
  readonly now: () => number;
}

/** A state machine; `begin` returns the function that handles its commands. */
export function createMachine<C, E>(
  begin: (context: MachineContext<E>) => (command: C) => void,
): Machine<C, E> {
  const timers = createTimers();
  let events: E[] = [];
  let time = 0;
  const emit = (event: E): void => void events.push(event);
  const handle = begin({ emit, timers, now: () => time });
  const eventsOf = (now: number, act: () => void): readonly E[] => {
    time = now;
    events = [];
    act();
    return events;
  };
  return {
    apply: (command, now) => eventsOf(now, () => handle(command)),
    elapse: (now) => eventsOf(now, () => timers.fire(now)),
    nextDue: () => timers.nextDue(),
  };
}

/** A state machine in time. */
export interface Driver<C> {
  /** `onEvent` was called with all that the command led to when this returns. */
  readonly apply: (command: C) => void;
  /** Cancels its timer. */
  readonly stop: () => void;
}

/** Applies commands to a machine, and lets it elapse when something is due. One timer at most is armed. */
export function drive<C, E>(
  machine: Machine<C, E>,
  clock: Clock,
  onEvent: (event: E) => void,
): Driver<C> {
  let timer = Subscription.EMPTY;
  let armedFor = Infinity;
  const arm = (): void => {
    const due = machine.nextDue();
    if (due === armedFor) return;
    timer.unsubscribe();
    armedFor = due;
    if (due === Infinity) return;
    timer = clock.at(due).subscribe((now) => {
      armedFor = Infinity;
      emitAll(machine.elapse(now));
    });
  };
  const emitAll = (events: readonly E[]): void => {
    arm();
    events.forEach(onEvent);
  };
  arm();
  return {
    apply: (command) => emitAll(machine.apply(command, clock.now())),
    stop: () => timer.unsubscribe(),
  };
}
