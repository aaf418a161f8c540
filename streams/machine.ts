import { createTimers, type Timers } from "./timers.ts";

/** A state machine without a clock. Times are epoch ms. */
export interface Machine<C, E> {
  /** Applies a command; returns its events, in order. */
  apply(command: C, now: number): readonly E[];
  /** Fires the timers that are due; returns their events, in order. */
  elapse(now: number): readonly E[];
  /** When to call `elapse` next; Infinity for never. */
  nextDue(): number;
}

export interface MachineClock {
  readonly timers: Timers;
  /** The time of the current command, epoch ms. */
  readonly now: () => number;
}

export interface MachineContext<E> extends MachineClock {
  readonly emit: (event: E) => void;
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
