/**
 * A second interrupt within this time, in ms, is the same one: a terminal sends Ctrl-C to the whole group, and npm (or
 * al on an old Node) forwards its own.
 */
const sameInterrupt = 250;

/** A scheduler or a run that signals stop. */
export interface Stoppable {
  stop(reason: string): void;
  stopNow(): void;
}

export type StopSignals = ReturnType<typeof watchStopSignals>;

/** Listens from the start, so that a signal during it doesn't leave half of a scheduler behind. */
export function watchStopSignals() {
  let first: { reason: string } | null = null;
  let lastAt = 0;
  let twice = false;
  let stop: (reason: string) => void = () => undefined;
  let stopNow: () => void = () => undefined;

  const ask = (reason: string): void => {
    if (first !== null) return;
    first = { reason };
    stop(reason);
  };
  const again = (): void => {
    twice = true;
    stopNow();
  };
  const receive = (signal: NodeJS.Signals): void => {
    const isSame = performance.now() - lastAt < sameInterrupt;
    lastAt = performance.now();
    if (first === null) return ask(signal);
    if (signal === "SIGINT" && !isSame) again();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, receive);

  return {
    /** Lets signals stop it, including earlier ones. `onInterrupt` is called on the first interrupt. */
    forwardTo: (target: Stoppable, onInterrupt: () => void) => {
      stopNow = () => target.stopNow();
      stop = (reason) => {
        if (reason === "SIGINT") onInterrupt();
        target.stop(reason);
      };
      if (first !== null) stop(first.reason);
      if (twice) stopNow();
    },
    /** Requests a stop as a signal would; after that the next interrupt stops at once. */
    stop: ask,
    /** A Ctrl-C read as a key. */
    interrupt: () => (first === null ? ask("SIGINT") : again()),
    /** Whether a stop was requested. */
    wereGiven: () => first !== null,
    /** Whether a second interrupt shortened the stop. */
    wereTwice: () => twice,
  };
}

/**
 * Aborts on Ctrl-C and SIGTERM from now on, for the rest of the process: for a command with something to remove before
 * it ends.
 */
export function interrupted(): AbortSignal {
  const asked = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => asked.abort());
  return asked.signal;
}
