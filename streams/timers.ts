interface Timer {
  readonly time: number;
  readonly action: () => void;
  /** An action due at the same time may cancel it. */
  isCancelled: boolean;
}

/** No timers at first. */
export function createTimers() {
  /** The earliest first; those of one moment in the order in which they were set. */
  const timers: Timer[] = [];
  return {
    /** Runs `action` once at `time`; returns how to cancel it. */
    at: (time: number, action: () => void): (() => void) => {
      const timer = { time, action, isCancelled: false };
      timers.splice(indexAfter(timers, time), 0, timer);
      return () => {
        timer.isCancelled = true;
        const index = timers.indexOf(timer);
        if (index >= 0) timers.splice(index, 1);
      };
    },
    /** Runs the actions due at `now`, the earliest first; actions that they add wait for the next call. */
    fire: (now: number) => {
      const due = timers.splice(0, indexAfter(timers, now));
      for (const timer of due) if (!timer.isCancelled) timer.action();
    },
    /** Infinity if nothing is due. */
    nextDue: (): number => timers[0]?.time ?? Infinity,
  };
}

/** Actions by the moment at which they are due, in epoch ms; it has no clock of its own. */
export type Timers = ReturnType<typeof createTimers>;

/** The index of the first timer later than `time`, by binary search. */
function indexAfter(timers: readonly Timer[], time: number): number {
  let [from, to] = [0, timers.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((timers[middle]?.time ?? Infinity) > time) to = middle;
    else from = middle + 1;
  }
  return from;
}
