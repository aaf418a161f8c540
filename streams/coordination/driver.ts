import { Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import type { Machine } from "./machine.ts";

/** A state machine in time. */
export interface Driver<C> {
  /** `onEvent` was called with all that the command led to when this returns. */
  readonly apply: (command: C) => void;
  /** Cancels its timer. */
  readonly stop: () => void;
}

/** Applies commands to a machine, and tells it of the time when something is due. One timer at most is armed. */
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
      happened(machine.elapse(now));
    });
  };
  const happened = (events: readonly E[]): void => {
    arm();
    events.forEach(onEvent);
  };
  arm();
  return {
    apply: (command) => happened(machine.apply(command, clock.now())),
    stop: () => timer.unsubscribe(),
  };
}
