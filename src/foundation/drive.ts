import type { Clock } from "../../streams/clock.ts";
import type { Machine } from "../../streams/machine.ts";

/** Applies commands to a machine, and lets it elapse when something is due. At most one timer is armed. */
export function drive<C, E>(machine: Machine<C, E>, clock: Clock, onEvent: (event: E) => void) {
  let cancel = (): void => undefined;
  let armedFor = Infinity;
  const arm = (): void => {
    const due = machine.nextDue();
    if (due === armedFor) return;
    cancel();
    armedFor = due;
    if (due === Infinity) return;
    cancel = clock.wakeAt(due, () => {
      armedFor = Infinity;
      emitAll(machine.elapse(clock.now()));
    });
  };
  const emitAll = (events: readonly E[]): void => {
    arm();
    events.forEach(onEvent);
  };
  arm();
  return {
    /** Calls `onEvent` with every event of the command before it returns. */
    apply: (command: C): void => emitAll(machine.apply(command, clock.now())),
    /** Cancels the timer. */
    stop: (): void => cancel(),
  };
}
